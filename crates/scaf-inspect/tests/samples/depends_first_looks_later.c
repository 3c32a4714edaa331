// The first iteration looks at what it has stored, and the others don't.
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
            a[begin + n] = a[begin];
            for (int i = begin + 1; i < end; i++) {
                double old = a[i];
                a[i] = b[i];
                a[i + n] = old;
            }
        }
    }
}
