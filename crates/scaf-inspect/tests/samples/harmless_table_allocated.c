#include <stdlib.h>

void run(long *out, int *a, long *w, int n, int bins)
{
#pragma omp parallel
    {
        long *own = calloc(bins, sizeof *own);
#pragma omp for
        for (int i = 0; i < n; i++) own[a[i]] += w[i];
#pragma omp critical
        for (int i = 0; i < bins; i++) out[i] += own[i];
        free(own);
    }
}
