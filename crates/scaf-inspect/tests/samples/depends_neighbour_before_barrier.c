#include <omp.h>

void run(volatile double *a, int n)
{
#pragma omp parallel
    {
        int size = omp_get_num_threads(), number = omp_get_thread_num();
        int each = n / size, rest = n % size;
        if (number < rest) { each++; rest = 0; }
        int begin = number * each + rest, end = begin + each;
        double before = a[begin];
#pragma omp barrier
        for (int i = begin; i < end; i++) {
            a[i + 1] += before;
            before = a[i + 1];
        }
    }
}
