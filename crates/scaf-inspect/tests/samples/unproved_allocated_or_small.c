#include <stdlib.h>

void run(long *a, int n, int m)
{
#pragma omp parallel
    {
        long small[16], *own = small;
        if (m > 16) own = malloc(m * sizeof *own);
#pragma omp for
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < m; j++) own[j] = a[i] + j;
            a[i] = own[i % m];
        }
        if (own != small) free(own);
    }
}
