#include <omp.h>
double sum;
void run(const double *part, double *a, int n)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
#pragma omp single
        for (int t = 0; t < omp_get_num_threads(); t++) sum += part[t];
    }
}
