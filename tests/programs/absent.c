/* build: gcc -O2 */
/* A program without OpenMP and MPI asks whether it has them: by weak references, in code and in data, and by
 * searches. */
#define _GNU_SOURCE
#include "test.h"
#include <dlfcn.h>

int omp_get_max_threads(void) __attribute__((weak));
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) __attribute__((weak));
void __kmpc_barrier(void *where, int thread) __attribute__((weak));
int MPI_Barrier(void *communicator) __attribute__((weak));

static void *const references[] = {(void *)omp_get_max_threads, (void *)GOMP_parallel,
                                   (void *)__kmpc_barrier, (void *)MPI_Barrier};
static const char *const names[] = {"omp_get_num_threads", "omp_get_thread_num_", "GOMP_barrier",
                                    "__kmpc_fork_call", "MPI_Wait", "mpi_wait_"};

int main(void)
{
    long wrong = 0;
    void *handles[] = {RTLD_DEFAULT, RTLD_NEXT, dlopen(NULL, RTLD_NOW)};
    wrong += omp_get_max_threads != NULL;
    wrong += GOMP_parallel != NULL;
    wrong += __kmpc_barrier != NULL;
    wrong += MPI_Barrier != NULL;
    for (unsigned i = 0; i < sizeof references / sizeof *references; i++)
        wrong += ((void *const volatile *)references)[i] != NULL;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        for (int by = 0; by < 3; by++) {
            wrong += dlsym(handles[by], names[i]) != NULL;
            const char *said = dlerror();
            wrong += said == NULL || strstr(said, names[i]) == NULL;
        }
    /* Searches that find something. */
    wrong += dlsym(RTLD_DEFAULT, "qsort") != (void *)qsort || dlerror() != NULL;
    say("wrong", wrong);
    return 0;
}
