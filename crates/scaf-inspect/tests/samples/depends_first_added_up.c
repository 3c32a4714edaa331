// The first iteration adds up fewer bits than the others.
#include <omp.h>

unsigned from = 0xfffffffe;

void run(unsigned long *a, int n)
{
#pragma omp parallel
    {
        int number = omp_get_thread_num(), size = omp_get_num_threads();
        int length = n / size, rest = n % size;
        if (number < rest)
            length++, rest = 0;
        int begin = number * length + rest, end = begin + length;
        unsigned first = from;
        if (begin < end) {
            a[begin] = (unsigned)(first + (unsigned)begin);
            for (int i = begin + 1; i < end; i++)
                a[i] = (unsigned long)first + (unsigned)i;
        }
    }
}
