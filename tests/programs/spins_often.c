/* build: gcc -O2 -fopenmp */
/* Threads hand a turn from one to the next, and wait for it in more loops than are made to yield. */
#include "test.h"
#include <omp.h>

static long turn;

#define STEP                                                                                              \
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != mine)                                              \
        ;                                                                                                 \
    sum += mine + (work(200, mine) < 0);                                                                  \
    __atomic_store_n(&turn, mine + 1, __ATOMIC_RELEASE);                                                  \
    mine += team;
#define STEPS9 STEP STEP STEP STEP STEP STEP STEP STEP STEP
#define STEPS72 STEPS9 STEPS9 STEPS9 STEPS9 STEPS9 STEPS9 STEPS9 STEPS9

int main(void)
{
    long wrong = 0, rounds = 0, most = 0;
    do {
        long sum = 0;
        turn = 0;
#pragma omp parallel reduction(+ : sum) reduction(max : most)
        {
            long team = omp_get_num_threads(), mine = omp_get_thread_num();
            most = team;
            for (int times = 0; times < 100; times++) {
                STEPS72
            }
        }
        wrong += turn * (turn - 1) / 2 != sum;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("most", most);
    say("wrong", wrong);
    return wrong != 0;
}
