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
#pragma omp parallel
    {
        int me = omp_get_thread_num(), part = n / threads, rest = n % threads;
        if (me < rest) part++, rest = 0;
        int from = me * part + rest;
        for (int i = from; i < from + part; i++) a[i] += 1;
    }
}
