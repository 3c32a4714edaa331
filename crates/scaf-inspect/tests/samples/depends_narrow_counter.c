#include "shares_out.h"

/* A counter of one byte beside where the share begins. */
int a[4096], b[4096], out[4096];
long total;

void run(int n)
{
#pragma omp parallel
    {
        SHARES_OUT(n);
        unsigned char k = 0;
        for (int i = begin; i < end; i++) {
            out[begin + k] += a[i];
            k++;
        }
    }
}
