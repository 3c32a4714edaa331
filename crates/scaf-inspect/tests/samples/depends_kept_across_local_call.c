#include <omp.h>
static volatile int ticks;
static __attribute__((noinline)) void tick(void) { ticks = 1; }
void run(double *buf)
{
#pragma omp parallel
    {
        int t = omp_get_thread_num();
        tick();
        buf[t] += 1;
    }
}
