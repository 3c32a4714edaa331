#include <stdlib.h>

void run(long *a, int n)
{
#pragma omp parallel
    {
        long *own = malloc(8 * sizeof *own);
#pragma omp for
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < 8; j++) own[j] = a[i] + j;
            a[i] = own[i % 8];
        }
        free(own);
    }
}
