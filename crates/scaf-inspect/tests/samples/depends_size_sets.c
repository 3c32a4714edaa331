#include <omp.h>
#include <stdio.h>
int run(void)
{
    int threads = 1, most = omp_get_max_threads(), step = 1;
#pragma omp parallel
#pragma omp master
    threads = omp_get_num_threads();
    if (threads != most) {
        puts("Warning");
        step = 2;
    }
    printf("%d threads\n", threads);
    return step;
}
