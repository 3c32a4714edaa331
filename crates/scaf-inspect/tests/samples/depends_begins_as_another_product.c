// Each iteration finds a multiple of the index of the one before it, the first of a share another one.
#include "share.h"

long a[64];

void run(int n)
{
#pragma omp parallel
    {
        SHARE(n);
        long k = begin * 3;
        for (long i = begin; i < end; i++) {
            a[i] = k;
            k = (i + 1) * 2;
        }
    }
}
