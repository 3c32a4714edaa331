#include <omp.h>
#include <stdlib.h>
int less(const void *, const void *);
void run(int *a, long n)
{
#pragma omp parallel
    {
        long all = omp_get_num_threads(), me = omp_get_thread_num();
        long share = n / all, rest = n % all;
        long from = me < rest ? me * (share + 1) : me * share + rest;
        long to = me < rest ? from + share + 1 : from + share;
        qsort(a + from, to - from, sizeof *a, less);
    }
}
