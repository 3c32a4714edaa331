/* Shares out `n` iterations by hand, as a compiler does: this thread has `share` of them, from `begin` up to
 * `end`. */
#include <omp.h>

#define SHARES_OUT(n)                                                   \
    int me = omp_get_thread_num(), threads = omp_get_num_threads();     \
    int share = (n) / threads, rest = (n) % threads;                    \
    if (me < rest) {                                                    \
        share++;                                                        \
        rest = 0;                                                       \
    }                                                                   \
    int begin = share * me + rest, end = begin + share
