/* build: gcc -O2 -fopenmp -pthread */
/* A script engine: each thread notes where its stack ends, by pthread_getattr_np, and calls look there. */
#define _GNU_SOURCE
#include "test.h"
#include <pthread.h>

static _Thread_local char *low, *high;

static __attribute__((noinline)) long deeper(long depth, long *wrong)
{
    volatile char here = (char)depth;
    if ((char *)&here < low + 4096 || (char *)&here >= high)
        ++*wrong;
    return depth ? deeper(depth - 1, wrong) + here : 0;
}

static void note(void)
{
    pthread_attr_t about;
    void *begin;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &about))
        abort();
    pthread_attr_getstack(&about, &begin, &size);
    pthread_attr_destroy(&about);
    low = begin;
    high = low + size;
}

int main(void)
{
    long wrong = 0, rounds = 0;
    do {
#pragma omp parallel num_threads(4) reduction(+ : wrong)
        {
            if (!low)
                note();
            deeper(50, &wrong);
#pragma omp barrier
            deeper(20, &wrong);
        }
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
