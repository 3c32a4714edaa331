// The first iteration looks at what it has stored, and the others don't.
#include "share.h"

void run(double *a, const double *b, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        if (begin < end) {
            a[begin] = b[begin];
            a[begin + n] = a[begin];
            for (int i = begin + 1; i < end; i++) {
                double old = a[i];
                a[i] = b[i];
                a[i + n] = old;
            }
        }
    }
}
