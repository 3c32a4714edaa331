// The first iteration cuts what it stores.
#include "share.h"

static __attribute__((noinline)) int next(int x)
{
    return x * 1000003;
}

void run(int *a, const int *b, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        if (begin < end) {
            a[begin] = (short)next(b[begin]);
            for (int i = begin + 1; i < end; i++)
                a[i] = next(b[i]);
        }
    }
}
