// The first iteration stores what stood there before an earlier loop of the share.
#include "share.h"

void run(int *a, int *c, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        if (begin < end) {
            int x = a[begin];
            for (int i = begin; i < end; i++)
                a[i] += 5;
            c[begin] = x;
            for (int i = begin + 1; i < end; i++)
                c[i] = a[i];
        }
    }
}
