#include <omp.h>
long double width;
void run(void)
{
#pragma omp parallel
#pragma omp single
    width = 1.0L / omp_get_num_threads();
}
