#include <omp.h>
#include <stdio.h>
static int threads = 1;
static long squared;
void run(double *a, int n)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
#pragma omp master
        {
            threads = omp_get_num_threads();
            squared = (long)threads * threads;
        }
    }
}
void report(void)
{
    printf("%d threads, squared %ld\n", threads, squared);
    puts("done");
}
