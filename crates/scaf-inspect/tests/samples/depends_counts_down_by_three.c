#include "shares_out.h"

/* A third of each share. */
int a[4096], b[4096], out[4096];
long total;

void run(int n)
{
#pragma omp parallel
    {
        SHARES_OUT(n);
        int i = begin;
        for (int left = share; left > 0; left -= 3) {
            out[i] = a[i];
            i++;
        }
    }
}
