// Shares of two iterations have only the first one done.
#include "share.h"

void run(double *a, const double *b, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        if (begin < end) {
            a[begin] += 2 * b[begin];
            if (begin + 2 < end)
                for (int i = begin + 1; i < end; i++)
                    a[i] += 2 * b[i];
        }
    }
}
