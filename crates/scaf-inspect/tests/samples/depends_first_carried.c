// The first iteration computes otherwise what each other one keeps of the one before.
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
        volatile int keep = 0;
        if (begin < end) {
            int x = b[begin] + 3;
            a[begin] = x;
            for (int i = begin + 1; i < end; i++) {
                keep = x;
                x = b[i] * 5;
                a[i] = x;
            }
        }
        (void)keep;
    }
}
