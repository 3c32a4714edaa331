#include <stdlib.h>

void run(long *a, int n)
{
#pragma omp parallel
    {
        unsigned long *state = malloc(sizeof *state);
        *state = 17;
#pragma omp for
        for (int i = 0; i < n; i++) {
            *state = *state * 6364136223846793005ul + 1;
            a[i] = *state >> 33;
        }
        free(state);
    }
}
