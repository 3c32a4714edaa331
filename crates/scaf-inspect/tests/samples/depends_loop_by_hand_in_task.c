/* A task goes through its thread's iterations only. */
#include <omp.h>

int done[1000];

void run(void) {
#pragma omp parallel
#pragma omp single
#pragma omp task
    {
        int number = omp_get_thread_num(), size = omp_get_num_threads();
        for (int i = number; i < 1000; i += size)
            done[i]++;
    }
}
