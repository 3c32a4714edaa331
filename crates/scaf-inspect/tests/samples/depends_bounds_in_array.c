#include "shares_out.h"

/* Each iteration picks one of the share's bounds. */
int a[4096], b[4096], out[4096];
long total;

void run(int n)
{
#pragma omp parallel
    {
        SHARES_OUT(n);
        int bounds[2];
        bounds[0] = begin;
        bounds[1] = end;
        for (int i = begin; i < end; i++)
            out[i] = bounds[a[i] & 1];
    }
}
