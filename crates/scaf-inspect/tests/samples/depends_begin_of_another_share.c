#include <omp.h>

/* Beside the share runs twice the quotient and once the rest. */
int a[4096], b[4096], out[4096];
long total;

void run(int n)
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
        int at = 2 * share * me + rest;
        for (int i = begin; i < end; i++) {
            out[i] = at;
            at += 2;
        }
    }
}
