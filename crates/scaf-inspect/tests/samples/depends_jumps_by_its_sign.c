// The first iteration of a share begins in its middle by a comparison with a sign.
#include "share.h"

void run(unsigned *restrict a, unsigned *restrict b, const unsigned *look, const unsigned *other, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        int i = begin;
        if (i < end) {
            if ((int)look[i] > 7)
                goto middle;
            do {
                a[i] = a[i] * 7 + 1;
            middle:
                b[i] ^= a[i];
                i++;
                if (i >= end)
                    break;
                if (look[i] > 7)
                    goto middle;
            } while (1);
        }
    }
}
