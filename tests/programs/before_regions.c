/* build: gcc -O2 -fopenmp -pthread */
/* What a program does before its first region. Each argument is a stage, which SIGUSR1 ends: `computes` on
 * one thread, computes on two `threads` of its own, or `sleeps`. Then regions until the input ends. */
#include "test.h"
#include <pthread.h>
#include <signal.h>

static volatile sig_atomic_t stage;
/* Else the compiler finds out that nobody needs the sum, and a loop that only waits for the stage is left. */
static volatile long kept;

static void next(int signal)
{
    (void)signal;
    stage++;
}

static long compute_in(int this)
{
    long sum = 0;
    while (stage == this)
        kept = sum += work(1000, sum);
    return sum;
}

static void *compute(void *this)
{
    return (void *)compute_in((int)(long)this);
}

int main(int count, char **words)
{
    signal(SIGUSR1, next);
    alarm(120);
    long sum = 0;
    for (int i = 1; i < count; i++) {
        pthread_t other;
        int threads = strcmp(words[i], "threads") == 0;
        if (threads && pthread_create(&other, NULL, compute, (void *)(long)(i - 1)))
            return 1;
        if (strcmp(words[i], "sleeps") == 0)
            while (stage == i - 1)
                usleep(10000);
        sum += compute_in(i - 1);
        if (threads)
            pthread_join(other, NULL);
    }
    long wrong = 0, rounds = 0;
    while (going()) {
        long done = 0;
#pragma omp parallel for reduction(+ : done)
        for (int i = 0; i < 64; i++)
            done += 1 + (work(2000, i) < 0);
        wrong += done != 64;
        rounds++;
    }
    say("rounds", rounds);
    say("wrong", wrong);
    return sum < 0;
}
