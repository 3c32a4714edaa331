/* build: gcc -O2 -fopenmp */
/* Threads that have had many regions set a stack for their handlers, each its own, and keep it. */
#define _GNU_SOURCE
#include "test.h"
#include <omp.h>
#include <signal.h>

enum { THREADS = 3, SIZE = 1 << 15 };
static char stacks[THREADS][SIZE];
static void *found[THREADS];

int main(void)
{
    long wrong = 0, rounds = 0;
    int is_set = 0;
    do {
        int sets = !is_set && rounds > 300;
        is_set |= sets;
#pragma omp parallel num_threads(THREADS)
        {
            int me = omp_get_thread_num();
            stack_t own = {.ss_sp = stacks[me], .ss_size = SIZE}, now;
            found[me] = stacks[me];
            if (sets)
                wrong += sigaltstack(&own, NULL) != 0;
#pragma omp barrier
            if (is_set)
                found[me] = sigaltstack(NULL, &now) ? NULL : now.ss_sp;
            work(100, 1);
        }
        for (int i = 0; i < THREADS; i++)
            wrong += found[i] != stacks[i];
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
