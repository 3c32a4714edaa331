#include <omp.h>

void run(double *a, double *b, int rounds)
{
#pragma omp parallel
    {
        int own = 0;
        for (int k = 0; k < rounds; k++) {
#pragma omp for
            for (int i = 0; i < 128; i++) { a[i] += k; own += i & 1; }
#pragma omp for
            for (int i = 0; i < 128; i++) b[i] += own;
        }
    }
}
