#include "shares_out.h"

/* A remainder that isn't taken again. */
int a[4096], b[4096], out[4096];
long total;

void run(int n)
{
#pragma omp parallel
    {
        SHARES_OUT(n);
        int column = begin % 7;
        for (int i = begin; i < end; i++) {
            out[i] = a[i] + b[column];
            column++;
        }
    }
}
