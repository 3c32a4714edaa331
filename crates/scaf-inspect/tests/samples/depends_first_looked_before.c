// The first iteration stores what stood there before an earlier loop of the share.
#include <omp.h>

void run(int *a, int *c, int n)
{
#pragma omp parallel
    {
        int number = omp_get_thread_num(), size = omp_get_num_threads();
        int length = n / size, rest = n % size;
        if (number < rest)
            length++, rest = 0;
        int begin = number * length + rest, end = begin + length;
        if (begin < end) {
            int x = a[begin];
            for (int i = begin; i < end; i++)
                a[i] += 5;
            c[begin] = x;
            for (int i = begin + 1; i < end; i++)
                c[i] = a[i];
        }
    }
}
