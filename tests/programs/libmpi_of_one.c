/* build: gcc -O2 */
/* A library with an MPI of one rank of its own, as sequential builds of solvers bring one. */
#include <string.h>

int MPI_Allreduce(const void *from, void *to, int count, long type, long operation, long communicator)
{
    (void)type, (void)operation, (void)communicator;
    memcpy(to, from, (size_t)count * sizeof(double));
    return 0;
}

void mpi_bcast_(void *data, const int *count, const int *type, const int *root, const int *communicator,
                int *error)
{
    (void)data, (void)count, (void)type, (void)root, (void)communicator;
    *error = 0;
}

int sum_of_one(double value)
{
    double mine = value, sum = -1;
    int zero = 0, error = -1077;
    int failed = MPI_Allreduce(&mine, &sum, 1, 0, 0, 0);
    mpi_bcast_(&sum, &zero, &zero, &zero, &zero, &error);
    return failed || error ? -1 : (int)sum;
}
