#include <omp.h>

void run(double *a, double *b, int rounds)
{
#pragma omp parallel
    {
        int size = omp_get_num_threads(), number = omp_get_thread_num();
        int each = 3 / size, rest = 3 % size, own = 0;
        if (number < rest) { each++; rest = 0; }
        int begin = number * each + rest, end = begin + each;
        for (int k = 0; k < rounds; k++) {
            if (each > 0) {
                for (int i = begin; i < end; i++) a[i] += k;
                own += 2;
            } else own += 1;
#pragma omp for
            for (int i = 0; i < 100; i++) b[i] += own;
        }
    }
}
