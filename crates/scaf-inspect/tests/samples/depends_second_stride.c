#include <omp.h>

void run(int *a, int *c, int n)
{
#pragma omp parallel
    {
        int size = omp_get_num_threads(), number = omp_get_thread_num();
        int j = number;
        for (int b = number * 3; b < n; b += 3 * size, j += 2 * size) { a[b] += 1; c[j] = b; }
    }
}
