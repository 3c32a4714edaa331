#include <omp.h>

void run(int *a, int *b, int n)
{
#pragma omp parallel
    {
        int size = omp_get_num_threads(), number = omp_get_thread_num(), one = 0;
        int each = n / size, rest = n % size;
        if (number < rest) { each++; rest = 0; }
        int begin = number * each + rest, end = begin + each;
        for (int i = begin; i < end; i++) a[i] += i;
#pragma omp barrier
#pragma omp single
        { one = 1; b[0] = a[7]; }
        if (one)
            for (int i = begin; i < end; i++) a[i] += b[0];
    }
}
