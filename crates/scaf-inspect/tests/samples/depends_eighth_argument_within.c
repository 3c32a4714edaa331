#include <omp.h>
static __attribute__((noipa)) void put(long a, long b, long c, long d, long e, long f, long *part, int who)
{
    part[who] = a + b + c + d + e + f;
}
void run(long *part, long round)
{
#pragma omp parallel
    put(round, 0, 0, 0, 0, 0, part, omp_get_thread_num());
}
