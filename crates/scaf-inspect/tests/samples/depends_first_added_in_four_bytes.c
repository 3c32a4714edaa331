// The first iteration of a share adds in four bytes what is added before the loop in eight for the others.
#include "share.h"

unsigned long a[64];

void run(int n, unsigned long x)
{
#pragma omp parallel
    {
        SHARE(n);
        if (begin < end) {
            a[begin] = (unsigned)x + 5u;
            unsigned long y = x + 5;
            for (int i = begin + 1; i < end; i++)
                a[i] = y;
        }
    }
}
