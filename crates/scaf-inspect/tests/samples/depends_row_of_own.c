#include <omp.h>
void run(double *work, int stride, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) work[i * stride + omp_get_thread_num()] = i;
}
