// A share is done or not as its first element says.
#include "share.h"

void run(int *a, const int *b, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        if (begin < end && b[begin] > 3)
            for (int i = begin; i < end; i++)
                a[i] += 1;
    }
}
