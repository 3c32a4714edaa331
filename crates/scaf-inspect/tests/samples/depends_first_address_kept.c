/* Each thread keeps where its share begins, and looks there in all its iterations. */
#include <omp.h>

enum { N = 1200 };

int cells[N], given[N];

void spread(void) {
#pragma omp parallel
    {
        int *first = 0;
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++) {
            if (!first) first = &given[i];
            cells[i] = *first + given[i];
        }
    }
}
