/* build: gcc -O2 -fopenmp */
/* Threads are known by where their thread-local variable lies; each does the block of that. */
#include "test.h"
#include <omp.h>

enum { MOST = 64, BLOCK = 50 };
static _Thread_local char own;
static char *known[MOST];
static int count;

static int place(void)
{
    int found = -1;
#pragma omp critical
    {
        for (int i = 0; i < count; i++)
            if (known[i] == &own)
                found = i;
        if (found < 0 && count < MOST) {
            known[count] = &own;
            found = count++;
        }
    }
    return found;
}

int main(void)
{
    static long done[MOST * BLOCK];
    long wrong = 0, rounds = 0, threads = omp_get_max_threads();
    do {
        memset(done, 0, sizeof done);
#pragma omp parallel
        {
            long begin = (long)place() * BLOCK;
            for (long i = begin; i < begin + BLOCK; i++)
                done[i] += 1 + 0 * work(5, i);
        }
        for (long i = 0; i < threads * BLOCK; i++)
            wrong += done[i] != 1;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
