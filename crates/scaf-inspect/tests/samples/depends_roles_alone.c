#include <omp.h>
void work(int);
void run(int n)
{
#pragma omp parallel
    if (omp_get_num_threads() == 1) work(0);
    else work(n);
}
