#include "shares_out.h"

/* Tiles that begin where the share does. */
int a[4096], b[4096], out[4096];
long total;

void run(int n)
{
#pragma omp parallel
    {
        SHARES_OUT(n);
        for (int i = begin; i < end; i += 8) {
            int sum = 0;
            for (int k = 0; k < 8; k++)
                sum += a[i + k];
            out[i] = sum;
        }
    }
}
