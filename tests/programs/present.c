/* build: gcc -O2 -fopenmp -Wl,-z,now */
/* As absent.c, with OpenMP, which is found in each way; and it works. */
#define _GNU_SOURCE
#include "test.h"
#include <dlfcn.h>

int omp_get_max_threads(void) __attribute__((weak));
int omp_get_thread_num(void) __attribute__((weak));
int MPI_Barrier(void *communicator) __attribute__((weak));

static const char *const names[] = {"omp_get_num_threads", "omp_get_thread_num_", "GOMP_barrier"};

int main(void)
{
    long rounds = 0, wrong = 0;
    void *handles[] = {RTLD_DEFAULT, RTLD_NEXT, dlopen(NULL, RTLD_NOW)};
    do {
        long sum = 0;
        wrong += omp_get_max_threads == NULL || omp_get_max_threads() != 3;
        wrong += omp_get_thread_num == NULL || MPI_Barrier != NULL;
        for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
            for (int by = 0; by < 3; by++)
                wrong += dlsym(handles[by], names[i]) == NULL || dlerror() != NULL;
        int (*size)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_num_threads");
#pragma omp parallel num_threads(3) reduction(+ : sum)
        sum += 10 * size() + omp_get_thread_num();
        wrong += sum != 3 * 30 + 3;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return 0;
}
