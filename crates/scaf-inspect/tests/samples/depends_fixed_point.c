#include "shares_out.h"

/* Where the share begins, rounded, and what is added each time, rounded. */
int a[4096], b[4096], out[4096];
long total;

void run(int n, int ratio)
{
#pragma omp parallel
    {
        SHARES_OUT(n);
        int at = (begin * ratio) >> 16, step = ratio >> 16;
        for (int i = begin; i < end; i++) {
            out[i] = a[at];
            at += step;
        }
    }
}
