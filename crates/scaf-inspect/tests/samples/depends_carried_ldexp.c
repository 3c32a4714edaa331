#include <math.h>

void run(double *a, int n)
{
    double x = 1;
#pragma omp parallel for firstprivate(x)
    for (int i = 0; i < n; i++) { a[i] = x; x = ldexp(x, i & 1); }
}
