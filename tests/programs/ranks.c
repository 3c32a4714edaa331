/* build: mpicc.openmpi -O2 -fopenmp -lmpi_mpifh */
/* Ranks of an MPI job. The first runs regions whose teams may be resized; the others have run one, and wait
 * for it by the call that is named. */
#include "test.h"

#include <mpi.h>

/* Fortran's name for the call; linked by hand, for mpicc only knows C. */
extern void mpi_barrier_(int *communicator, int *error);

static int rank, ranks, token;

static long round_of_work(void)
{
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 64; i++)
        sum += work(500, i);
    return sum;
}

static void by_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void by_fortran(void)
{
    int communicator = MPI_Comm_c2f(MPI_COMM_WORLD), error = -1;
    mpi_barrier_(&communicator, &error);
    if (error != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

static void by_recv(void)
{
    int got = token + 1;
    for (int to = 1; rank == 0 && to < ranks; to++)
        MPI_Send(&token, 1, MPI_INT, to, 5, MPI_COMM_WORLD);
    if (rank != 0)
        MPI_Recv(&got, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0 && got != token)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

static void by_wait(void)
{
    int got = token + 1;
    MPI_Request request;
    MPI_Status status;
    for (int to = 1; rank == 0 && to < ranks; to++)
        MPI_Send(&token, 1, MPI_INT, to, 6, MPI_COMM_WORLD);
    if (rank != 0) {
        MPI_Irecv(&got, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &request);
        MPI_Waitall(1, &request, &status);
        if (got != token || status.MPI_SOURCE != 0)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static void by_sendrecv(void)
{
    /* Around a ring: twelve arguments, six of them on the stack. */
    int got = -1, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 7, &got, 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got != left)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

static void by_allreduce(void)
{
    double mine = rank + 1, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (sum != ranks * (ranks + 1) / 2.0)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

static const struct {
    const char *name;
    void (*call)(void);
} WAYS[] = {{"barrier", by_barrier}, {"fortran", by_fortran},   {"recv", by_recv},
            {"wait", by_wait},       {"sendrecv", by_sendrecv}, {"allreduce", by_allreduce}};

int main(int count, char **words)
{
    int level;
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long rounds = 0, wrong = 0, expected = round_of_work();
    while (rank == 0 && going()) {
        wrong += round_of_work() != expected;
        rounds++;
    }
    token = 4711;
    for (unsigned way = 0; way < sizeof WAYS / sizeof *WAYS; way++)
        if (count > 1 && !strcmp(words[1], WAYS[way].name))
            WAYS[way].call();
    /* Afterwards each computes what it computed before. */
    for (int again = 0; again < 20; again++)
        wrong += round_of_work() != expected;
    long all = 0;
    MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        say("rounds", rounds);
        say("wrong", all);
    }
    MPI_Finalize();
    return 0;
}
