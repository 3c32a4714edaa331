#include <omp.h>
#include <stdio.h>
int run(int n, int more)
{
    int threads = 1;
    if (more) {
#pragma omp parallel
#pragma omp master
        threads = omp_get_num_threads();
    }
    printf("%d threads\n", threads);
    return n / threads;
}
