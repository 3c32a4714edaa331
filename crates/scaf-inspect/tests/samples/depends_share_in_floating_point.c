#include <omp.h>
#include <stdio.h>
double run(double work)
{
    int threads = 1;
#pragma omp parallel
#pragma omp master
    threads = omp_get_num_threads();
    printf("%g for each\n", work / threads);
    return work / threads;
}
void fill(double *share, double work)
{
    int threads = 1;
#pragma omp parallel
#pragma omp master
    threads = omp_get_num_threads();
    *share = work / threads;
}
