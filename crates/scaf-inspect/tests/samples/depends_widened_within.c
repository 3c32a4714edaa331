// A number of four bytes is widened in an inner loop, which leaves it to the next iteration cut again.
#include "share.h"

int a[4096];

void run(int n)
{
#pragma omp parallel
    {
        SHARE(n);
        int b = begin;
        for (int i = begin; i < end; i++) {
            long k = b + 1;
            for (int j = 0; j < n; j++, k += 8)
                a[k] = j;
            b = (int)k;
        }
    }
}
