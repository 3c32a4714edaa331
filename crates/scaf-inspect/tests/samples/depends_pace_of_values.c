#include <omp.h>

/* As a compiler shares out, but each next value is two more. */
long a[240];

void run(void)
{
#pragma omp parallel
    {
        long threads = omp_get_num_threads(), me = omp_get_thread_num();
        long share = 240 / threads, rest = 240 % threads;
        if (me < rest) {
            share++;
            rest = 0;
        }
        long begin = me * share + rest;
        for (long j = 0; j < share; j++)
            a[begin + j] = begin + 2 * j;
    }
}
