#include "shares_out.h"

/* Beside the share runs twice the quotient and once the rest. */
int a[4096], b[4096], out[4096];
long total;

void run(int n)
{
#pragma omp parallel
    {
        SHARES_OUT(n);
        int at = 2 * share * me + rest;
        for (int i = begin; i < end; i++) {
            out[i] = at;
            at += 2;
        }
    }
}
