/* build: gcc -O2 -fopenmp -pthread */
/* Between regions the first thread has each of the others flush what it counts, by a signal to its handle. */
#include "test.h"
#include <omp.h>
#include <pthread.h>
#include <signal.h>

enum { TEAM = 3 };
static pthread_t threads[TEAM];
static _Thread_local long counted;
static long flushed, answers;

static void flush(int signal)
{
    (void)signal;
    __atomic_fetch_add(&flushed, counted, __ATOMIC_RELAXED);
    counted = 0;
    __atomic_fetch_add(&answers, 1, __ATOMIC_RELEASE);
}

int main(void)
{
    struct sigaction action = {.sa_handler = flush, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    long wrong = 0, rounds = 0;
    do {
#pragma omp parallel num_threads(TEAM)
        {
            threads[omp_get_thread_num()] = pthread_self();
            for (int i = 0; i < 3; i++) {
                counted += work(20, i) >= 0;
#pragma omp barrier
            }
        }
        if (++rounds % 20 == 0) {
            answers = 0;
            for (int i = 0; i < TEAM; i++)
                pthread_kill(threads[i], SIGUSR1);
            for (int i = 0; i < 100000 && __atomic_load_n(&answers, __ATOMIC_ACQUIRE) < TEAM; i++)
                usleep(20);
            wrong += answers != TEAM || flushed != rounds * TEAM * 3;
        }
    } while (!wrong && going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
