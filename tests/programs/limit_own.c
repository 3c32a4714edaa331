/* build: gcc -O1 -fopenmp -fno-inline */
/* A parser that refuses what is nested too deep counts how far its stack is from something thread-local, or
 * from what pthread_self says. */
#include "test.h"
#include <omp.h>
#include <pthread.h>

static _Thread_local char anchor;

static long distance(long d)
{
    return d < 0 ? -d : d;
}

static long from_anchor(void)
{
    char here;
    __asm__ volatile("" : : "r"(&here) : "memory");
    long d = (long)&anchor - (long)&here;
    return d < 0 ? -d : d;
}

static long from_self(void)
{
    char here;
    __asm__ volatile("" : : "r"(&here) : "memory");
    long d = (long)pthread_self() - (long)&here;
    return d < 0 ? -d : d;
}

static long parse(long depth, long (*far)(void))
{
    if (distance(far()) > 256 << 10)
        return -1000000;
    return depth ? 1 + parse(depth - 1, far) : work(2, depth);
}

int main(void)
{
    long rounds = 0, wrong = 0;
    do {
        long found[4] = {0};
#pragma omp parallel num_threads(4)
        {
            /* The first thread's stack is elsewhere. */
            int me = omp_get_thread_num();
            for (int i = 0; i < 3 && me; i++) {
                found[me] += parse(30, i & 1 ? from_anchor : from_self) < 0;
#pragma omp barrier
            }
            for (int i = 0; i < 3 && !me; i++) {
#pragma omp barrier
            }
        }
        for (int i = 1; i < 4; i++)
            wrong += found[i];
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
