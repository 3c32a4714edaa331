/* The first thread has another factor in all its iterations. */
#include <omp.h>

enum { N = 1200 };

int cells[N], given[N];

void multiply(void) {
#pragma omp parallel
    {
        int factor = 1;
#pragma omp master
        factor = 2;
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++) cells[i] = given[i] * factor;
    }
}
