#include <omp.h>
#include <stdio.h>
int run(void)
{
    int threads = 1, most = omp_get_max_threads(), length = 0;
#pragma omp parallel
#pragma omp master
    threads = omp_get_num_threads();
    if (threads != most) length = printf("Warning\n");
    return length;
}
int longer(void)
{
    int threads = 1;
#pragma omp parallel
#pragma omp master
    threads = omp_get_num_threads();
    return printf("%d\n", threads);
}
