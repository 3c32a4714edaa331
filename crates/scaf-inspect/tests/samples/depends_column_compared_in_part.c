// A column's number is compared in four bytes, with one that needs more.
#include "share.h"

unsigned long a[64];

void run(int n, unsigned long m)
{
#pragma omp parallel
    {
        SHARE(n);
        unsigned long i = begin / m, j = begin % m;
        for (unsigned long c = begin; c < (unsigned long)end; c++) {
            a[c] = i * 100 + j;
            j++;
            if ((unsigned)j >= (unsigned)m)
                j = 0, i++;
        }
    }
}
