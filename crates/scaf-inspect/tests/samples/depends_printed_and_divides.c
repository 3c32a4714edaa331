#include <omp.h>
#include <stdio.h>
static int threads = 1;
int run(double *a, int n)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
#pragma omp master
        threads = omp_get_num_threads();
    }
    printf("%d threads\n", threads);
    return 0;
}
int share(int n) { return n / threads; }
