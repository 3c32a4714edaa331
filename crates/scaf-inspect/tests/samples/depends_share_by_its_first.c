// A share is done or not as its first element says.
#include <omp.h>

void run(int *a, const int *b, int n)
{
#pragma omp parallel
    {
        int number = omp_get_thread_num(), size = omp_get_num_threads();
        int length = n / size, rest = n % size;
        if (number < rest)
            length++, rest = 0;
        int begin = number * length + rest, end = begin + length;
        if (begin < end && b[begin] > 3)
            for (int i = begin; i < end; i++)
                a[i] += 1;
    }
}
