/* The others wait for what the first has made: one alone never waits, but counts them. */
#include <omp.h>
static int ready, taken;
static double item;
void run(double *to, int others)
{
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) {
            item = to[0];
            __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
            while (__atomic_load_n(&taken, __ATOMIC_ACQUIRE) < others)
                ;
        } else {
            while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
                ;
            __atomic_fetch_add(&taken, 1, __ATOMIC_ACQ_REL);
        }
    }
}
