/* A function returns the team's size, which one thread keeps. */
#include <omp.h>

int size;

static __attribute__((noinline)) int team(void) {
    return omp_get_num_threads();
}

void run(void) {
#pragma omp parallel
    {
        int its = team();
#pragma omp single
        size = its;
    }
}
