// A loop through a share by hand, whose first iteration begins in its middle if FIRST, and others if OTHERS.
#include "share.h"

void run(unsigned *restrict a, unsigned *restrict b, const unsigned *look, const unsigned *other, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        int i = begin;
        if (i < end) {
            if (FIRST)
                goto middle;
            do {
                a[i] = a[i] * 7 + 1;
            middle:
                b[i] ^= a[i];
                i++;
                if (i >= end)
                    break;
                if (OTHERS)
                    goto middle;
            } while (1);
        }
    }
}
