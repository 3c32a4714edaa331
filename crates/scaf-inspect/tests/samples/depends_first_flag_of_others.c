#include <omp.h>
void work(int);
int timed;
void run(double *a, int n)
{
#pragma omp parallel
    {
        int first = omp_get_thread_num() == 0;
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
        if (timed && !first) work(1);
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 2;
    }
}
