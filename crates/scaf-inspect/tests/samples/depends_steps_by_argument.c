#include "shares_out.h"

/* A step that isn't one iteration. */
int a[4096], b[4096], out[4096];
long total;

void run(int n, int step)
{
#pragma omp parallel
    {
        SHARES_OUT(n);
        for (int i = begin; i < end; i += step)
            out[i] = a[i];
    }
}
