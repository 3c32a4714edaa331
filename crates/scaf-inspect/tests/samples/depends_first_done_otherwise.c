// The first iteration of each share does something else than the others.
#include "share.h"

void run(double *a, const double *b, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        if (begin < end) {
            a[begin] = b[begin];
            for (int i = begin + 1; i < end; i++)
                a[i] = b[i] + 1;
        }
    }
}
