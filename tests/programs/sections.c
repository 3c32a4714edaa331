/* build: gcc -O2 -fopenmp */
/* Sections that wait for each other: with fewer threads than it counts on, this program would hang. */
#include "test.h"

static long flag;

static void wait_for(long value)
{
    while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) != value)
        usleep(10);
}

static void combined(long round)
{
#pragma omp parallel sections
    {
#pragma omp section
        wait_for(round);
#pragma omp section
        __atomic_store_n(&flag, round, __ATOMIC_RELEASE);
    }
}

static void within(long round)
{
#pragma omp parallel
    {
#pragma omp sections
        {
#pragma omp section
            wait_for(round);
#pragma omp section
            __atomic_store_n(&flag, round, __ATOMIC_RELEASE);
        }
    }
}

int main(int count, char **words)
{
    void (*const run)(long) = count > 1 && !strcmp(words[1], "combined") ? combined : within;
    long rounds = 0;
    do
        run(++rounds);
    while (going());
    say("rounds", rounds);
    return 0;
}
