/* The number of a thread's round chooses what it looks at. */
#include <omp.h>

enum { N = 1200 };

int cells[N], given[N];

void take(void) {
#pragma omp parallel
    {
        int count = 0;
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++) { cells[i] = given[count]; count++; }
    }
}
