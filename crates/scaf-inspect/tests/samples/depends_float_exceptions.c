// Which exceptions the first thread has seen depends on the iterations that it had.
#include <fenv.h>

int divide(double *a, const double *b, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = 1 / b[i];
    return fetestexcept(FE_DIVBYZERO);
}
