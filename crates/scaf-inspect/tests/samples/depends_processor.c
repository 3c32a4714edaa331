#define _GNU_SOURCE
#include <sched.h>
void run(long *counts, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) __atomic_fetch_add(&counts[sched_getcpu()], 1, __ATOMIC_RELAXED);
}
