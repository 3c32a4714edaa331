// The first iteration of each share takes what another one should.
#include "share.h"

void run(double *a, const double *b, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        if (begin < end) {
            a[begin] = 2 * b[begin + 1];
            for (int i = begin + 1; i < end; i++)
                a[i] = 2 * b[i];
        }
    }
}
