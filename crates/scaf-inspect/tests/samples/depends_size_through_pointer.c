#include <omp.h>
void run(int *out)
{
#pragma omp parallel
    {
#pragma omp master
        *out = omp_get_num_threads();
    }
}
