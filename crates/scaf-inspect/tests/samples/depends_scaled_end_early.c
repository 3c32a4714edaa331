#include <omp.h>

/* As a compiler shares out, less the last iteration of each share. */
long a[720];

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
        if (begin < begin + share)
            for (long k = 3 * begin; k < 3 * (begin + share) - 3; k += 3)
                a[k] = k;
    }
}
