/* Waits for two flags, and lets others run meanwhile. */
#include <sched.h>
int flags[64];
static long sum;

void second(int n)
{
#pragma omp parallel
    {
        while (__atomic_load_n(&flags[n], __ATOMIC_ACQUIRE) == 0 ||
               __atomic_load_n(&flags[n + 1], __ATOMIC_ACQUIRE) == 0)
            sched_yield();
#pragma omp atomic
        sum++;
    }
}
