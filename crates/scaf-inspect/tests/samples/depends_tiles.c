#include <omp.h>

/* Tiles that begin where the share does. */
int a[4096], b[4096], out[4096];
long total;

void run(int n)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num(), threads = omp_get_num_threads();
        int share = n / threads, rest = n % threads;
        if (me < rest) {
            share++;
            rest = 0;
        }
        int begin = share * me + rest, end = begin + share;
        for (int i = begin; i < end; i += 8) {
            int sum = 0;
            for (int k = 0; k < 8; k++)
                sum += a[i + k];
            out[i] = sum;
        }
    }
}
