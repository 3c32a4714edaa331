/* Weak scaling by the number of processors, counted by an atomic operation. */
#include <omp.h>
static long done;
long run(long each)
{
    long expected = each * omp_get_num_procs();
    done = 0;
#pragma omp parallel
    for (long i = 0; i < each; i++) {
#pragma omp atomic
        done += i & 1;
    }
    return expected - 2 * done;
}
