#include <omp.h>
#include <stdio.h>
static int threads = 1;
int *known = &threads;
void run(void)
{
#pragma omp parallel
#pragma omp master
    threads = omp_get_num_threads();
    printf("%d threads\n", threads);
}
