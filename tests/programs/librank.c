/* build: mpicc.openmpi -O2 -fopenmp */
/* MPI called by a library: a rank's work and its wait, for a program that isn't linked with MPI. */
#include "test.h"

#include <mpi.h>

int rank_of_job(void)
{
    int rank, level;
    long wrong = 0, expected = 0;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    do {
        long sum = 0;
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 64; i++)
            sum += work(500, i);
        expected = expected ? expected : sum;
        wrong += sum != expected;
    } while (rank == 0 && going());
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        say("wrong", wrong);
    MPI_Finalize();
    return wrong != 0;
}
