// Shares of up to five iterations aren't done.
#include "share.h"

void run(double *a, const double *b, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        if (end - begin > 5)
            for (int i = begin; i < end; i++)
                a[i] += 2 * b[i];
    }
}
