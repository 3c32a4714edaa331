#include <omp.h>

void run(int *a, int n)
{
#pragma omp parallel
    {
        int size = omp_get_num_threads(), number = omp_get_thread_num();
        for (int b = number * 4; b + 4 * size < n; b += 4 * size)
            for (int i = b; i < b + 4; i++) a[i] += i;
    }
}
