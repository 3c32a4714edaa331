#include <omp.h>
void start(int), stop(int);
int timed;
void run(double *a, double *b, int n, int m)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        if (timed && me == 0) start(1);
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += b[i];
        if (timed && me == 0) stop(1);
#pragma omp master
        if (timed) start(2);
#pragma omp for
        for (int i = 1; i < m - 1; i++) b[i] += a[i - 1] + a[i + 1];
#pragma omp master
        if (timed) stop(2);
    }
}
