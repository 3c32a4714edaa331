/* build: gcc -O2 -fopenmp -pthread */
/* Threads name themselves once, and are known by their names; each does the block of its own. */
#define _GNU_SOURCE
#include "test.h"
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>

enum { MOST = 64, BLOCK = 50 };
static _Thread_local int has_name;
static int count;

static int place(void)
{
    char name[16];
    if (!has_name) {
        int mine;
#pragma omp atomic capture
        mine = count++;
        has_name = 1;
        snprintf(name, sizeof name, "worker %d", mine);
        if (mine & 1)
            prctl(PR_SET_NAME, name);
        else
            pthread_setname_np(pthread_self(), name);
    }
    if (pthread_getname_np(pthread_self(), name, sizeof name))
        abort();
    return atoi(name + 7);
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
