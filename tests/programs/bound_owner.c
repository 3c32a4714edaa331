/* build: gcc -O2 -fopenmp -pthread */
/* Regions of fixed size with a lock whose owner is a kernel thread, by its number: who has it gets it again.
 * Prints how often two threads had it. */
#define _GNU_SOURCE
#include "test.h"

#include <omp.h>
#include <sys/syscall.h>

enum { TEAM = 4 };

static int owner, depth, inside;

static int lock(void)
{
    int me = (int)syscall(SYS_gettid), nobody = 0;
    if (__atomic_load_n(&owner, __ATOMIC_RELAXED) != me)
        while (!__atomic_compare_exchange_n(&owner, &nobody, me, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            nobody = 0;
            usleep(20);
        }
    depth++;
    return ++inside != 1;
}

static void unlock(void)
{
    inside--;
    if (--depth == 0)
        __atomic_store_n(&owner, 0, __ATOMIC_RELEASE);
}

int main(void)
{
    long wrong = 0, rounds = 0;
    do {
#pragma omp parallel num_threads(TEAM) reduction(+ : wrong)
        for (int i = 0; i < 3; i++) {
            wrong += lock();
#pragma omp taskyield
            work(50, i);
#pragma omp flush
            unlock();
#pragma omp barrier
        }
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
