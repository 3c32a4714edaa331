#include <omp.h>
void run(double *a, int n)
{
    int p = omp_get_max_threads();
#pragma omp parallel
    {
        int t = omp_get_thread_num();
        int from = n / p * t, to = t == p - 1 ? n : from + n / p;
        for (int i = from; i < to; i++) a[i] += 1;
    }
}
