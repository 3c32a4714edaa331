#include <omp.h>
#include <stdio.h>
static int threads = 1;
void run(void)
{
#pragma omp parallel
#pragma omp master
    threads = omp_get_num_threads();
    printf("%d threads\n", threads);
}
void use(double *a, int n)
{
    for (int i = 0; i < n / threads; i++) a[i] += 1;
}
