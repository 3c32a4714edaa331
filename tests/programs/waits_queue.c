/* build: gcc -O2 -fopenmp */
/* The master hands out pieces of work by memory, one at a time, and waits until somebody has taken each. */
#include "test.h"
#include <sched.h>

enum { PIECES = 30 };

int main(void)
{
    long wrong = 0, rounds = 0, expected = 0;
    for (long i = 1; i <= PIECES; i++)
        expected += work(30, i);
    do {
        static long piece;
        long sum = 0;
        piece = 0;
#pragma omp parallel reduction(+ : sum)
        {
#pragma omp master
            for (long next = 1; next <= PIECES + 1; next++) {
                __atomic_store_n(&piece, next <= PIECES ? next : -1, __ATOMIC_RELEASE);
                while (next <= PIECES && __atomic_load_n(&piece, __ATOMIC_ACQUIRE) == next)
                    sched_yield();
            }
            for (long mine; (mine = __atomic_load_n(&piece, __ATOMIC_ACQUIRE)) >= 0;) {
                if (mine == 0 || !__atomic_compare_exchange_n(&piece, &mine, 0, 0, __ATOMIC_ACQ_REL,
                                                              __ATOMIC_RELAXED))
                    sched_yield();
                else
                    sum += work(30, mine);
            }
        }
        wrong += sum != expected;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
