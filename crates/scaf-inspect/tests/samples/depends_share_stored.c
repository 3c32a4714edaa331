#include <omp.h>
int share;
void run(double *a, int n)
{
#pragma omp parallel
    {
#pragma omp single
        share = n / omp_get_num_threads();
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
    }
}
