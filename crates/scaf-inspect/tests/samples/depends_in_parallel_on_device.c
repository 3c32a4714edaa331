#include <omp.h>
int parallel;
void run(void)
{
#pragma omp parallel
#pragma omp single
#pragma omp target map(from : parallel)
    parallel = omp_in_parallel();
}
