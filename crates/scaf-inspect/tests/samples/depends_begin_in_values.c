#include "shares_out.h"

/* Each iteration computes with where the share begins. */
int a[4096], b[4096], out[4096];
long total;

void run(int n)
{
#pragma omp parallel
    {
        SHARES_OUT(n);
        for (int i = begin; i < end; i++)
            out[i] = i % (begin + 1);
    }
}
