/* build: gcc -O2 -fopenmp */
/* One region around everything, whose threads meet at barriers and ends of loops, and check after each
 * meeting that all others have done what comes before. Of 64 regions one creates a task on the way, one
 * enters a region in the old way, and one is entered from within another. Prints the meetings at which
 * somebody was early, and the loops that dealt out a chunk twice or never. */
#include "test.h"

#include <omp.h>

enum { MOST = 16, STEPS = 200, CHUNKS = 97 };

static struct {
    _Alignas(64) long step;
} at[MOST];
static char dealt[4][CHUNKS + 1];
static long early, wrong, meetings, ran;

static void arrive(int me, long step)
{
    __atomic_store_n(&at[me].step, step, __ATOMIC_RELAXED);
}

static void look(int team, long step)
{
    for (int other = 0; other < team; other++) {
        long there = __atomic_load_n(&at[other].step, __ATOMIC_RELAXED);
        if (there != step && there != step + 1)
            __atomic_fetch_add(&early, 1, __ATOMIC_RELAXED);
    }
}

void GOMP_parallel_start(void (*body)(void *), void *data, unsigned threads);
void GOMP_parallel_end(void);
void GOMP_barrier(void);

static void in_old(void *sum)
{
    GOMP_barrier();
    __atomic_fetch_add((long *)sum, 1, __ATOMIC_RELAXED);
}

/* A region as compilers before gcc 4.9 entered it, within this one. */
static void old_region(void)
{
    long sum = 0;
    GOMP_parallel_start(in_old, &sum, 0);
    in_old(&sum);
    GOMP_parallel_end();
    if (sum < 1)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void region(long round)
{
    memset(at, 0, sizeof at);
    memset(dealt, 0, sizeof dealt);
#pragma omp parallel
    {
        int me = omp_get_thread_num(), team = omp_get_num_threads();
        long step = 0;
        for (int i = 0; i < STEPS; i++) {
            arrive(me, ++step);
            work(20 + (me + i) % 5 * 20, i);
#pragma omp barrier
            look(team, step);
            if (i == STEPS / 2 && round % 64 == 5 && me == team - 1) {
#pragma omp task shared(ran)
                __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
            }
            if (i == STEPS / 3 && round % 64 == 6 && me == 0)
                old_region();
            if (i % 50 == 7) {
                int loop = i / 50;
                /* The first loop hasn't got a barrier at its end: threads are in two loops at once. */
#pragma omp for schedule(dynamic) nowait
                for (int c = 0; c < CHUNKS; c++) {
                    work(30, c);
                    __atomic_fetch_add(&dealt[loop][c], 1, __ATOMIC_RELAXED);
                }
                arrive(me, ++step);
#pragma omp for schedule(guided)
                for (unsigned long long c = 0; c < CHUNKS; c++)
                    __atomic_fetch_add(&dealt[loop][c], 1, __ATOMIC_RELAXED);
                look(team, step);
            }
            if (i % 50 == 20) {
                arrive(me, ++step);
#pragma omp sections
                {
#pragma omp section
                    work(10, i);
#pragma omp section
                    work(20, i);
                }
                look(team, step);
                arrive(me, ++step);
#pragma omp single
                work(40, i);
                look(team, step);
            }
        }
#pragma omp atomic
        meetings += step;
    }
    for (int loop = 0; loop < 4; loop++)
        for (int c = 0; c < CHUNKS; c++)
            wrong += dealt[loop][c] != 2;
}

int main(void)
{
    long rounds = 0, tasks = 0;
    do {
        if (rounds % 64 == 63) {
#pragma omp parallel num_threads(2)
#pragma omp single
            region(rounds);
        } else {
            region(rounds);
        }
        tasks += rounds % 64 == 5;
        rounds++;
    } while (going());
    wrong += early + (ran != tasks);
    say("rounds", rounds);
    say("meetings", meetings);
    say("early", early);
    say("wrong", wrong);
    return wrong != 0;
}
