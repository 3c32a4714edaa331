/* The number of a thread's round is stored: as its index without where its share begins. */
#include <omp.h>

enum { N = 1200 };

int cells[N];

void number(void) {
#pragma omp parallel
    {
        int count = 0;
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++) { cells[i] = count; count++; }
    }
}
