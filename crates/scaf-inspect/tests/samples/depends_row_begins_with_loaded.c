// What goes along with a row's number begins with what is loaded where the share begins.
#include "share.h"

long a[64], b[64];

void run(int n, long m)
{
#pragma omp parallel
    {
        SHARE(n);
        long i = begin / m, j = begin % m, k = i * 7;
        k += b[begin];
        for (long c = begin; c < end; c++) {
            a[i * m + j] = k;
            if (++j == m)
                j = 0, i++, k += 7;
        }
    }
}
