/* build: gcc -O2 -fopenmp -pthread */
/* A team whose threads are sent signals by their handles, as collectors of garbage do. */
#define _GNU_SOURCE
#include "test.h"

#include <omp.h>
#include <pthread.h>
#include <signal.h>

enum { TEAM = 3 };

static __thread int mine;
static int handled;

static void handle(int signal)
{
    (void)signal;
    mine++;
    __atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST);
}

int main(void)
{
    long wrong = 0;
    signal(SIGUSR1, handle);
    do {
        static pthread_t threads[TEAM];
        int before = handled;
#pragma omp parallel num_threads(TEAM) reduction(+ : wrong)
        {
            int had = mine;
            threads[omp_get_thread_num()] = pthread_self();
#pragma omp barrier
            pthread_kill(threads[(omp_get_thread_num() + 1) % TEAM], SIGUSR1);
            while (__atomic_load_n(&handled, __ATOMIC_SEQ_CST) < before + TEAM)
                usleep(10);
#pragma omp barrier
            wrong += mine != had + 1;
        }
    } while (going());
    say("wrong", wrong);
    return wrong != 0;
}
