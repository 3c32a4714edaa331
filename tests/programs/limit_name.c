/* build: gcc -O2 -fopenmp -pthread */
/* Threads are known by where their stacks begin, which each asks for anew; each does the block of that. */
#define _GNU_SOURCE
#include "test.h"
#include <omp.h>
#include <pthread.h>

enum { MOST = 64, BLOCK = 50 };
static void *known[MOST];
static int count;

static void *stack(void)
{
    pthread_attr_t about;
    void *begin;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &about))
        abort();
    pthread_attr_getstack(&about, &begin, &size);
    pthread_attr_destroy(&about);
    return begin;
}

static int place(void)
{
    void *mine = stack();
    int found = -1;
#pragma omp critical
    {
        for (int i = 0; i < count; i++)
            if (known[i] == mine)
                found = i;
        if (found < 0 && count < MOST) {
            known[count] = mine;
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
