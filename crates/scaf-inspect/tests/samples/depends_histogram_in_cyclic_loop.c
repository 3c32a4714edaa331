#include <omp.h>
void run(int *hist, const int *a, int n)
{
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < n; i++) hist[a[i] * omp_get_num_threads() + omp_get_thread_num()]++;
}
