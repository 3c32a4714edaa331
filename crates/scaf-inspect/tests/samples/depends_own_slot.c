#include <omp.h>
double part[64];
void run(const double *a, int n)
{
#pragma omp parallel
    {
        int t = omp_get_thread_num();
        double s = 0;
#pragma omp for schedule(dynamic)
        for (int i = 0; i < n; i++) s += a[i];
        part[t] = s;
    }
}
