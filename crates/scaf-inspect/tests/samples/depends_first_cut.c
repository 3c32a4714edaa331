// The first iteration cuts what it stores.
#include <omp.h>

static __attribute__((noinline)) int next(int x)
{
    return x * 1000003;
}

void run(int *a, const int *b, int n)
{
#pragma omp parallel
    {
        int number = omp_get_thread_num(), size = omp_get_num_threads();
        int length = n / size, rest = n % size;
        if (number < rest)
            length++, rest = 0;
        int begin = number * length + rest, end = begin + length;
        if (begin < end) {
            a[begin] = (short)next(b[begin]);
            for (int i = begin + 1; i < end; i++)
                a[i] = next(b[i]);
        }
    }
}
