// The second iteration of each share is left out.
#include "share.h"

void run(double *a, const double *b, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        if (begin < end) {
            a[begin] += 2 * b[begin];
            for (int i = begin + 2; i < end; i++)
                a[i] += 2 * b[i];
        }
    }
}
