#include <omp.h>
void f(void);
void run(double *a, int n)
{
#pragma omp parallel
    {
#pragma omp master
        f();
        if (omp_get_thread_num() == 0) f();
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
    }
}
