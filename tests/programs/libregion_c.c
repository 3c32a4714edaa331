/* build: by the test, against a copy of the runtime */
/* A library with regions; its siblings differ in what they compute and in how long their code is. */
#include "test.h"

#include <omp.h>

long compute(long seed);

static omp_lock_t lock;

/* The last call of a function is a jump. */
static __attribute__((noinline)) void take(void)
{
    omp_set_lock(&lock);
}

/* A task for each thread, for which its group waits; in the second region by the last call of its function. */
static long groups(void)
{
    long sum = 0, early = 0;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2) reduction(+ : early)
    {
        int done = 0;
#pragma omp taskgroup
        {
#pragma omp task shared(done)
            {
                take();
                sum += 11;
                omp_unset_lock(&lock);
                done = 1;
            }
        }
        early += !done;
    }
#pragma omp parallel num_threads(2)
#pragma omp taskgroup
    {
#pragma omp task
        {
            take();
            sum += 13;
            omp_unset_lock(&lock);
        }
    }
    omp_destroy_lock(&lock);
    return sum + 1000 * early;
}

long compute(long seed)
{
    long sum = 0;
#pragma omp parallel
    {
#pragma omp for reduction(+ : sum) schedule(static)
        for (long i = 0; i < 100; i++)
            sum += (seed + i) * 5;
        /* By all of them, if they are in no team of the runtime that is asked. */
#pragma omp single
        sum += 7;
    }
    return sum + groups();
}
