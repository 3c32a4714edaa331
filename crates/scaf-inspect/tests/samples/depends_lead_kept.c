#include <omp.h>
int run(double *a, int n)
{
    int met = 0;
#pragma omp parallel
    {
        int lead = 0;
        if (omp_get_thread_num() == 0) lead = 1;
#pragma omp for
        for (int i = 0; i < n; i++) {
            a[i] += 1;
            if (lead) {
#pragma omp atomic
                met++;
            }
        }
    }
    return met;
}
