#include <omp.h>
void comm(void);
void work(void);
void run(void)
{
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1) comm();
    else work();
}
