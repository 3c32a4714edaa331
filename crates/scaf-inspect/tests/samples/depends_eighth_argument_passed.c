#include <omp.h>
void work(int, int, int, int, int, int, int, int);
void run(void)
{
#pragma omp parallel
    work(1, 2, 3, 4, 5, 6, 7, omp_get_num_threads());
}
