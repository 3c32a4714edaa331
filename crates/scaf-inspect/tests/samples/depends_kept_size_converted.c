#include <omp.h>
#include <stdio.h>
static int threads = 1;
void run(void)
{
#pragma omp parallel
#pragma omp master
    threads = omp_get_num_threads();
    printf("%d threads\n", threads);
    puts("done");
}
void use(double *a, int n)
{
#pragma omp parallel
    {
        int step = (int)(2.0 * threads);
        for (int i = omp_get_thread_num() * 2; i < n; i += step) a[i] += 1;
    }
}
