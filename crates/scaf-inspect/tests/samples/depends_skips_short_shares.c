// Shares of up to five iterations aren't done.
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
        if (end - begin > 5)
            for (int i = begin; i < end; i++)
                a[i] += 2 * b[i];
    }
}
