#include <omp.h>

/* Where the share begins, rounded, and what is added each time, rounded. */
int a[4096], b[4096], out[4096];
long total;

void run(int n, int ratio)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num(), threads = omp_get_num_threads();
        int share = n / threads, rest = n % threads;
        if (me < rest) {
            share++;
            rest = 0;
        }
        int begin = share * me + rest, end = begin + share;
        int at = (begin * ratio) >> 16, step = ratio >> 16;
        for (int i = begin; i < end; i++) {
            out[i] = a[at];
            at += step;
        }
    }
}
