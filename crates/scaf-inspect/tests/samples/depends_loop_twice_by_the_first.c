#include <omp.h>

void run(int *a, int *b)
{
#pragma omp parallel
    {
        int rounds = 1;
#pragma omp for
        for (int i = 0; i < 256; i++) a[i] += i;
#pragma omp master
        { b[0] = a[7]; rounds = 2; }
#pragma omp barrier
        for (int k = 0; k < rounds; k++) {
#pragma omp for nowait
            for (int i = 0; i < 256; i++) a[i] += b[0];
        }
    }
}
