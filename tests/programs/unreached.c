/* build: gcc -O2 -fopenmp -pthread */
/* Regions of fixed size that do nothing but compute. Outside of them the program names its thread, asks for
 * its number, sets its priority, and sends a thread of its own signals by its handle. */
#define _GNU_SOURCE
#include "test.h"

#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { TEAM = 4 };

static int answers;

static void answer(int signal)
{
    (void)signal;
    __atomic_fetch_add(&answers, 1, __ATOMIC_SEQ_CST);
}

static void *sleeping(void *nothing)
{
    prctl(PR_SET_NAME, "sleeping");
    for (;;)
        pause();
    return nothing;
}

int main(void)
{
    pthread_t helper;
    long wrong = 0, rounds = 0;
    signal(SIGUSR1, answer);
    pthread_create(&helper, NULL, sleeping, NULL);
    wrong += syscall(SYS_gettid) != getpid();
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0));
    do {
        long sum = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : sum)
        {
            sum += omp_get_thread_num();
#pragma omp barrier
            sum += work(20, 1) >= 0;
        }
        wrong += sum != TEAM * (TEAM - 1) / 2 + TEAM;
        if (rounds++ % 1000 == 0) {
            int before = __atomic_load_n(&answers, __ATOMIC_SEQ_CST);
            pthread_kill(helper, SIGUSR1);
            for (int i = 0; __atomic_load_n(&answers, __ATOMIC_SEQ_CST) == before && i < 100000; i++)
                usleep(10);
            wrong += __atomic_load_n(&answers, __ATOMIC_SEQ_CST) == before;
        }
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
