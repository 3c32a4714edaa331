#include <omp.h>
#include <stdio.h>
int run(double *a, int n)
{
    int threads = 1;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
#pragma omp master
        threads = omp_get_num_threads();
    }
    printf("%d threads\n", threads);
    a[n / threads] = 0;
    return 0;
}
