#include <omp.h>
void comm(void);
void work(void);
void run(volatile int *done)
{
#pragma omp parallel
    while (!*done) {
        if (omp_get_thread_num() > 0) work();
        else comm();
    }
}
