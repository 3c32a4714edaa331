// The first iteration of each share does something else than the others.
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
            a[begin] = b[begin];
            for (int i = begin + 1; i < end; i++)
                a[i] = b[i] + 1;
        }
    }
}
