/* One thread's iterations of a loop that nobody else goes through. */
#include <omp.h>

int done[1000];

static __attribute__((noinline)) void share(void) {
    int number = omp_get_thread_num(), size = omp_get_num_threads();
    for (int i = number; i < 1000; i += size)
        done[i]++;
}

void run(void) {
#pragma omp parallel
#pragma omp single
    share();
}
