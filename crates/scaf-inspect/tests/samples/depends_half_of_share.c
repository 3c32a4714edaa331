#include <omp.h>

int out[16];

void run(void)
{
#pragma omp parallel
    {
        int t = omp_get_thread_num(), n = omp_get_num_threads(), q = 16 / n, r = 16 % n;
        if (t < r) {
            q++;
            r = 0;
        }
        int begin = q * t + r, end = begin + q, k = 0;
        for (int i = begin; i < end; i++) {
            if (k < q / 2)
                out[i] = 1;
            k++;
        }
    }
}
