// A column's number is negative, and compared without its sign.
#include "share.h"

long a[64];

void run(int n, long m)
{
#pragma omp parallel
    {
        SHARE(n);
        long i = begin / m, j = begin % m - 5;
        for (long c = begin; c < end; c++) {
            a[c] = i * 100 + j;
            j++;
            if ((unsigned long)j >= (unsigned long)(m - 5))
                j = -5, i++;
        }
    }
}
