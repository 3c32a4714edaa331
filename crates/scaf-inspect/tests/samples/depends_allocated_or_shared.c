#include <stdlib.h>

void run(long *shared, long *a, int n, int m)
{
#pragma omp parallel
    {
        long *own = m > 16 ? shared : malloc(16 * sizeof *own);
#pragma omp critical
        for (int i = 0; i < 16; i++) own[i] = own[i] + i;
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
    }
}
