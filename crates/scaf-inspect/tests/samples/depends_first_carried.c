// The first iteration computes otherwise what each other one keeps of the one before.
#include "share.h"

void run(int *a, const int *b, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        volatile int keep = 0;
        if (begin < end) {
            int x = b[begin] + 3;
            a[begin] = x;
            for (int i = begin + 1; i < end; i++) {
                keep = x;
                x = b[i] * 5;
                a[i] = x;
            }
        }
        (void)keep;
    }
}
