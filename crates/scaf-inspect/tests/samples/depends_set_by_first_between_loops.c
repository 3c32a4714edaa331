#include <omp.h>

void run(int *a, int *b)
{
#pragma omp parallel
    {
        int mine = 0;
#pragma omp for
        for (int i = 0; i < 256; i++) a[i] += i;
#pragma omp master
        { mine = 1; b[0] = a[7]; }
#pragma omp barrier
#pragma omp for
        for (int i = 0; i < 256; i++) a[i] += mine;
    }
}
