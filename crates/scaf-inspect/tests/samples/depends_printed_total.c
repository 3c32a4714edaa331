#include <omp.h>
#include <stdio.h>
static long total;
void run(double *a, int n)
{
    int threads = 1;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
#pragma omp master
        threads = omp_get_num_threads();
    }
    total += threads;
}
void report(void)
{
    printf("%ld\n", total);
    puts("done");
}
