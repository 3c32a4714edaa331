/* Weak scaling by what the environment says. */
#include <stdlib.h>
long run(long each)
{
    const char *text = getenv("OMP_NUM_THREADS");
    long expected = each * (text ? atoi(text) : 1), total = 0;
#pragma omp parallel
    {
        long own = 0;
        for (long i = 0; i < each; i++) own += (i * 7919) % 3 == 0;
#pragma omp critical
        total += own;
    }
    return total - expected;
}
