#include <omp.h>
void run(double *buf, double *a, int n)
{
#pragma omp parallel
    {
        int t = omp_get_thread_num(), p = omp_get_num_threads();
        buf[p + t] = 1;
#pragma omp for schedule(static, 1)
        for (int i = 0; i < n; i++) a[i] += 1;
    }
}
