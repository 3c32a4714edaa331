// The first iteration of a share takes its column's neighbour in four bytes, the others in eight.
#include "share.h"

unsigned long a[512];

void run(int n, unsigned long m)
{
#pragma omp parallel
    {
        SHARE(n);
        if (begin < end) {
            unsigned long i = begin / m, j = begin % m;
            a[i * 48 + j] = (unsigned)(j - 1) * 3UL;
            for (int c = begin + 1; c < end; c++) {
                if (++j == m)
                    j = 0, i++;
                a[i * 48 + j] = (j - 1) * 3;
            }
        }
    }
}
