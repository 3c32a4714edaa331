/* build: gcc -O2 -fopenmp -pthread */
/* As midway.c, one region. Once it is sent SIGUSR1 its threads are in groups of tasks that are still without
 * any, over many barriers. Once more, and they create some. */
#define ROUNDS 0
static void also(int me, int team, long round, long here);
#define before(region)
#include "midway.c"

static long children[MOST], grouped[MOST], produced;
static int sent, goes_on;

static void also(int me, int team, long round, long here)
{
    (void)here;
#pragma omp single
    {
        sent = (int)handled;
        goes_on = 1;
        produced = 0;
    }
    if (!sent)
        return;
    children[me] = grouped[me] = 0;
#pragma omp taskgroup
    {
        while (sent == 1 && goes_on) {
#pragma omp barrier
#pragma omp single
            {
                sent = (int)handled;
                goes_on = going();
            }
        }
        for (int i = 0; i < 5; i++) {
#pragma omp task firstprivate(i)
            {
                work(500, i);
                check(omp_get_num_threads() == team);
                __atomic_fetch_add(&grouped[me], i, __ATOMIC_RELAXED);
            }
        }
    }
    check(grouped[me] == 10);
#pragma omp single nowait
    for (long i = 0; i < 40; i++) {
#pragma omp task firstprivate(i)
        __atomic_fetch_add(&produced, i, __ATOMIC_RELAXED);
    }
#pragma omp barrier
    check(produced == 780);
#pragma omp task firstprivate(round)
    __atomic_store_n(&children[me], round, __ATOMIC_RELAXED);
#pragma omp taskwait
    check(children[me] == round);
#pragma omp barrier
}
