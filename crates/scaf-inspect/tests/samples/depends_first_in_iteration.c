#include <omp.h>
int run(double *a, int n)
{
    int firsts = 0;
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++) {
        a[i] += 1;
        if (omp_get_thread_num() == 0) firsts++;
    }
    return firsts;
}
