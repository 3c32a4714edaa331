#include <omp.h>
void work(int first, int others);
void run(void)
{
#pragma omp parallel
    work(omp_get_thread_num() == 0, omp_get_thread_num() ? 7 : 9);
}
