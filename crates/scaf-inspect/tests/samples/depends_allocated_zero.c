#include <stdlib.h>

void run(long *a, int n)
{
#pragma omp parallel
    {
        long *own = calloc(8, sizeof *own);
#pragma omp for schedule(dynamic)
        for (int i = 0; i < n; i++) {
            own[i % 8] += a[i];
            a[i] = own[3];
        }
        free(own);
    }
}
