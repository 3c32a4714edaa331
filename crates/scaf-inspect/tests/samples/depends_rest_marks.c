#include <omp.h>

void run(int *a, int n)
{
#pragma omp parallel
    {
        int size = omp_get_num_threads(), number = omp_get_thread_num();
        int each = n / size, rest = n % size;
        if (number < rest) {
            a[number * (each + 1)] = 1;
        } else {
            a[number * each + rest] = 2;
        }
    }
}
