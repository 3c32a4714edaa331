#include <omp.h>
int run(double *a, int n, int expected)
{
    int bad = 0;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
        if (omp_get_num_threads() != expected) bad = 1;
    }
    return bad;
}
