#include <omp.h>

void run(int *a, int n, int *count)
{
#pragma omp parallel
    {
        int size = omp_get_num_threads(), number = omp_get_thread_num();
        if (number < n % size) {
#pragma omp atomic
            *count += 1;
        }
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += i;
    }
}
