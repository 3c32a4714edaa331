#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static void __attribute__((noinline)) look(double *x) { printf("%g\n", *x); }
void run(double *a, int n)
{
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0 && a[0] < 0) {
            look(a);
            abort();
        }
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
    }
}
