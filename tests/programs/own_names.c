/* build: gcc -O2 -rdynamic */
/* Functions of the program's own that are called like OpenMP's and MPI's: it finds them, and calls them. */
#define _GNU_SOURCE
#include "test.h"
#include <dlfcn.h>

int mpi_add(int one, int other) { return one + other; }
int omp_solve(void) { return 7; }
int omp_get_num_threads(void) { return 5; }
int MPI_Barrier(void) { return 11; }
int thrd_yield(void) { return 13; }

int main(void)
{
    static const struct { const char *name; void *function; } own[] = {
        {"mpi_add", (void *)mpi_add}, {"omp_solve", (void *)omp_solve},
        {"omp_get_num_threads", (void *)omp_get_num_threads}, {"MPI_Barrier", (void *)MPI_Barrier},
        {"thrd_yield", (void *)thrd_yield}};
    long wrong = 0;
    void *all = dlopen(NULL, RTLD_NOW);
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++) {
        wrong += dlsym(RTLD_DEFAULT, own[i].name) != own[i].function;
        wrong += dlsym(all, own[i].name) != own[i].function;
    }
    wrong += omp_get_num_threads() != 5 || MPI_Barrier() != 11 || thrd_yield() != 13;
    say("wrong", wrong);
    return 0;
}
