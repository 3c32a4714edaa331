/* What is stored in all iterations tells the first thread from the others, without a branch. */
#include <omp.h>

enum { N = 1200 };

int cells[N];

void mark(void) {
#pragma omp parallel
    {
        int value = 1 + (omp_get_thread_num() != 0);
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++) cells[i] = value;
    }
}
