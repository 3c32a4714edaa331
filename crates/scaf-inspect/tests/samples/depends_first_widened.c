// The first iteration widens by the sign, and the others with zeros.
#include <omp.h>

void run(long *a, const int *b, int n)
{
#pragma omp parallel
    {
        int number = omp_get_thread_num(), size = omp_get_num_threads();
        int length = n / size, rest = n % size;
        if (number < rest)
            length++, rest = 0;
        int begin = number * length + rest, end = begin + length;
        if (begin < end) {
            int x = b[begin] * -700000003;
            a[begin] = x;
            for (int i = begin + 1; i < end; i++) {
                int y = b[i] * -700000003;
                a[i] = (unsigned)y;
            }
        }
    }
}
