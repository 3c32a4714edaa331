// What the first of a share has shifted by its sign, the others have shifted with zeros.
#include "share.h"

long a[64];

void run(long n)
{
#pragma omp parallel
    {
        SHARE(n);
        long k = ((long)begin - 20) >> 3;
        for (long i = begin; i < end; i++) {
            a[i] = k;
            k = (unsigned long)(i + 1 - 20) >> 3;
        }
    }
}
