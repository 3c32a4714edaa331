/* build: gcc -O2 -fopenmp */
/* A sampler: each thread of a region of fixed size has a timer that signals it, and it alone. */
#define _GNU_SOURCE
#include "test.h"
#include <omp.h>
#include <signal.h>
#include <time.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { TEAM = 4 };
static _Thread_local int own = -1;
static int samples[TEAM];

static void take(int signal, siginfo_t *about, void *context)
{
    (void)signal, (void)context;
    if (own >= 0 && own == about->si_value.sival_int)
        __atomic_fetch_add(&samples[own], 1, __ATOMIC_RELAXED);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_RESTART | SA_SIGINFO};
    sigaction(SIGUSR2, &action, NULL);
    long wrong = 0, rounds = 0;
    do {
        memset(samples, 0, sizeof samples);
#pragma omp parallel num_threads(TEAM) reduction(+ : wrong)
        {
            own = omp_get_thread_num();
            struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR2};
            event.sigev_value.sival_int = own;
            event.sigev_notify_thread_id = gettid();
            timer_t timer;
            struct itimerspec soon = {.it_value.tv_nsec = 200000};
            wrong += timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &soon, NULL);
#pragma omp barrier
            for (int i = 0; i < 100000 && !__atomic_load_n(&samples[own], __ATOMIC_RELAXED); i++)
                usleep(20);
            timer_delete(timer);
            own = -1;
        }
        for (int i = 0; i < TEAM; i++)
            wrong += samples[i] != 1;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
