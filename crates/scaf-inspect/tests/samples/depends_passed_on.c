#include <omp.h>
#include <stdio.h>
void run(void)
{
#pragma omp parallel
    printf("%d of %d\n", omp_get_thread_num(), omp_get_num_threads());
}
