/* build: gcc -O2 -fopenmp -pthread */
/* As midway.c, in regions of some rounds, the later ones with tasks: alone, from one producer, dependent
 * ones, and in groups that are open at a barrier. */
#define ROUNDS 600
static void also(int me, int team, long round, long here);
#define before(region)
#include "midway.c"

static long children[MOST], produced, grouped[MOST], chained;

static void also(int me, int team, long round, long here)
{
    if (here <= ROUNDS / 6)
        return;
    children[me] = grouped[me] = 0;
#pragma omp single
    produced = chained = 0;
    for (int i = 0; i < 5; i++) {
#pragma omp task firstprivate(i)
        {
            work(50, i);
            __atomic_fetch_add(&children[me], i, __ATOMIC_RELAXED);
        }
    }
#pragma omp taskwait
    check(children[me] == 10);
#pragma omp single nowait
    for (long i = 0; i < 40; i++) {
#pragma omp task firstprivate(i)
        {
            check(omp_get_num_threads() == team);
            __atomic_fetch_add(&produced, i, __ATOMIC_RELAXED);
        }
    }
#pragma omp barrier
    check(produced == 780);
#pragma omp single
    for (long i = 0; i < 10; i++) {
#pragma omp task firstprivate(i) depend(inout : chained)
        chained = chained * 3 + i;
    }
    check(chained == 14757);
#pragma omp taskgroup
    {
#pragma omp task
        __atomic_fetch_add(&grouped[me], 1, __ATOMIC_RELAXED);
#pragma omp barrier
        check(grouped[me] == 1);
#pragma omp taskgroup
        {
            for (int i = 0; i < 40; i++) {
#pragma omp barrier
            }
#pragma omp task
            __atomic_fetch_add(&grouped[me], 2, __ATOMIC_RELAXED);
        }
        check(grouped[me] == 3);
#pragma omp task
        __atomic_fetch_add(&grouped[me], 4, __ATOMIC_RELAXED);
    }
    check(grouped[me] == 7);
    /* The next barrier, or the region's end, waits for this one. */
#pragma omp task firstprivate(round)
    steps[me][1] = round;
    if (round & 1) {
#pragma omp barrier
        check(steps[me][1] == round);
    }
}
