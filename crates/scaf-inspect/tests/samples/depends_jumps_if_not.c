// The first iteration of a share begins in its middle if the others do not.
#include "share.h"

void run(unsigned *restrict a, unsigned *restrict b, const unsigned *look, const unsigned *other, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        int i = begin;
        if (i < end) {
            if (!look[i])
                goto middle;
            do {
                a[i] = a[i] * 7 + 1;
            middle:
                b[i] ^= a[i];
                i++;
                if (i >= end)
                    break;
                if (look[i])
                    goto middle;
            } while (1);
        }
    }
}
