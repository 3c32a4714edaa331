#define _GNU_SOURCE
#include <sched.h>
long run(long n)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    long each = n / CPU_COUNT(&set), done = 0;
#pragma omp parallel reduction(+ : done)
    done += each;
    return done;
}
