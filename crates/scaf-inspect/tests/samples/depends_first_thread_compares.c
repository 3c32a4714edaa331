/* The first thread compares with another bound. */
#include <omp.h>

enum { N = 1200 };

int given[N];
long total;

void count(void) {
#pragma omp parallel
    {
        int bound = 100;
#pragma omp master
        bound = 0;
        long sum = 0;
#pragma omp for schedule(static) nowait
        for (int i = 0; i < N; i++) sum += given[i] > bound;
#pragma omp atomic
        total += sum;
    }
}
