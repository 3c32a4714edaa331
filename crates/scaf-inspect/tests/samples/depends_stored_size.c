#include <omp.h>
int size;
void run(double *a, int n)
{
#pragma omp parallel
    {
#pragma omp single
        size = omp_get_num_threads();
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
    }
}
