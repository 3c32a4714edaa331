#include <omp.h>
#include <stdio.h>
static int threads = 1;
static long again;
void run(double *a, int n)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
#pragma omp master
        {
            threads = omp_get_num_threads();
            again = threads;
        }
    }
}
void report(void)
{
    printf("%d threads, again %ld\n", threads, again);
    puts("done");
}
