// Shares of one iteration do something else.
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
        if (begin + 1 < end) {
            for (int i = begin; i < end; i++)
                a[i] += 1;
        } else if (begin < end) {
            for (int i = begin; i < end; i++)
                c[i] += 1;
        }
    }
}
