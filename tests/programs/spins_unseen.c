/* build: gcc -O2 -fopenmp */
/* Four threads wait for each other in a loop that isn't seen to: each look at the flag stores something. */
#include "test.h"

enum { THREADS = 4 };
static int arrived, waited;
static volatile long looks[THREADS * 16];

static __attribute__((noinline)) int look(int me)
{
    looks[me * 16]++;
    return __atomic_load_n(&arrived, __ATOMIC_SEQ_CST);
}

int main(void)
{
    long wrong = 0, rounds = 0;
    do {
        long sum = 0;
        int next = 0, waits = rounds % 50 == 49;
        arrived = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
        {
            int me = __atomic_fetch_add(&next, 1, __ATOMIC_SEQ_CST);
            __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
            while (waits && look(me) < THREADS) {
                /* Without a yield. */
            }
            sum += 1;
        }
        wrong += sum != THREADS;
        waited += waits;
        rounds++;
    } while (going() || waited < 3);
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
