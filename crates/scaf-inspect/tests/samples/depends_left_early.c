#include <omp.h>

int out[16], w[16];

void run(void)
{
#pragma omp parallel
    {
        int t = omp_get_thread_num(), n = omp_get_num_threads();
        for (int i = t; i < 16; i += n) {
            if (w[i])
                break;
            out[i] = 1;
        }
    }
}
