#include <omp.h>
void work(void);
void run(double *a, int n)
{
#pragma omp parallel
    {
        if (omp_get_thread_num() != 0) work();
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
    }
}
