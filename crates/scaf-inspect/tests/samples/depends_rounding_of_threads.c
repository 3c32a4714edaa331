#include <fenv.h>
void run(double *a, int n)
{
#pragma omp parallel
    fesetround(FE_UPWARD);
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = 1.0 / (i + 3);
}
