#include <omp.h>
static int times;
static void __attribute__((noinline)) f(void) { times++; }
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
