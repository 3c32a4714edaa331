// What goes along with a row's number begins with a product in four bytes and goes on in eight.
#include "share.h"

unsigned long a[64];

void run(int n, unsigned long m)
{
#pragma omp parallel
    {
        SHARE(n);
        unsigned long i = begin / m, j = begin % m, k = (unsigned)i * 0x70000001u;
        for (unsigned long c = begin; c < (unsigned long)end; c++) {
            a[i * m + j] = k;
            if (++j == m)
                j = 0, i++, k += 0x70000001u;
        }
    }
}
