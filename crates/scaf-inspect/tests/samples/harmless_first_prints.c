#include <omp.h>
#include <stdio.h>
void run(double *a, int n)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
        if (omp_get_thread_num() == 0) printf("%d elements\n", n);
    }
}
void again(double *a, int n)
{
#pragma omp parallel
    {
#pragma omp master
        for (int i = 0; i < n && a[i] > 0; i++) printf("%g\n", a[i]);
#pragma omp barrier
#pragma omp for schedule(dynamic)
        for (int i = 0; i < n; i++) a[i] += 1;
    }
}
