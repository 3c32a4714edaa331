#include <omp.h>
static __attribute__((noinline)) int me(void) { return omp_get_thread_num(); }
void run(double *buf)
{
#pragma omp parallel
    buf[me()] += 1;
}
