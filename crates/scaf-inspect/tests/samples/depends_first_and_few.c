// Shares of two iterations have only the first one done.
#include <omp.h>

void run(double *a, const double *b, int n)
{
#pragma omp parallel
    {
        int number = omp_get_thread_num(), size = omp_get_num_threads();
        int length = n / size, rest = n % size;
        if (number < rest)
            length++, rest = 0;
        int begin = number * length + rest, end = begin + length;
        if (begin < end) {
            a[begin] += 2 * b[begin];
            if (begin + 2 < end)
                for (int i = begin + 1; i < end; i++)
                    a[i] += 2 * b[i];
        }
    }
}
