#include <omp.h>
void run(double *a, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = 1.0 / omp_get_num_threads();
}
