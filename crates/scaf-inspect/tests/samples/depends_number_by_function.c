/* A function returns the thread's number, which each iteration keeps. */
#include <omp.h>

int owner[1000];

static __attribute__((noinline)) int number(void) {
    return omp_get_thread_num();
}

void run(void) {
#pragma omp parallel
    {
        int own = number();
#pragma omp for
        for (int i = 0; i < 1000; i++)
            owner[i] = own;
    }
}
