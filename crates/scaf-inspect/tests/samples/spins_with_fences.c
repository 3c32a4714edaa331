/* Volatile flags and a bound that changes, a fence of each kind. */
#include <sched.h>
volatile long done[64], bound;
static long sum;

void first(void)
{
#pragma omp parallel
    {
        while (done[1] < bound)
            __sync_synchronize();
#pragma omp atomic
        sum++;
    }
}
