#include <omp.h>
#include <stdio.h>
void keep(int *);
void run(double *a, int n)
{
    int threads = 1;
    keep(&threads);
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
#pragma omp master
        threads = omp_get_num_threads();
    }
    keep(0);
    printf("%d threads\n", threads);
}
