/* Each thread keeps what it has met first, and stores it in all its iterations. */
#include <omp.h>

enum { N = 1200 };

int cells[N], given[N];

void spread(void) {
#pragma omp parallel
    {
        int is_set = 0, first = 0;
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++) {
            if (!is_set) { first = given[i]; is_set = 1; }
            cells[i] = first;
        }
    }
}
