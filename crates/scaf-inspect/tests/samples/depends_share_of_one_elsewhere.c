// Shares of one iteration do something else.
#include "share.h"

void run(int *a, int *c, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        if (begin + 1 < end) {
            for (int i = begin; i < end; i++)
                a[i] += 1;
        } else if (begin < end) {
            for (int i = begin; i < end; i++)
                c[i] += 1;
        }
    }
}
