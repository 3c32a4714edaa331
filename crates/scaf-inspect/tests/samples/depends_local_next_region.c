#include <omp.h>
#include <stdio.h>
void run(double *a, double *parts, int n)
{
    int threads = 1;
#pragma omp parallel
#pragma omp master
    threads = omp_get_num_threads();
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] += parts[threads];
    printf("%d threads\n", threads);
}
