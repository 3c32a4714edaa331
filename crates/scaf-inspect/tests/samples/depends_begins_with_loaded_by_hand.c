// A value begins with what is loaded where a share begins that is computed by hand.
#include "share.h"

long a[64], b[64];

void run(int n)
{
#pragma omp parallel
    {
        SHARE(n);
        long k = begin * 3 + b[begin];
        for (long i = begin; i < end; i++, k += 3)
            a[i] = k;
    }
}
