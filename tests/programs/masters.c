/* build: gcc -O2 -fopenmp -pthread */
/* Regions from several threads of the program's own. `masters at-once N`: N masters at a time. Says how many
 * threads at most were in regions together in the last complete window of rounds. `masters one-by-one`: each
 * master is a new thread, which ends after a few regions. */
#include "test.h"
#include <pthread.h>

static long wrong, inside, peak, peak_of_window, ending, rounds;

static void note_peak(long now)
{
    long before = __atomic_load_n(&peak, __ATOMIC_RELAXED);
    while (now > before &&
           !__atomic_compare_exchange_n(&peak, &before, now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static void region(void)
{
    long sum = 0;
#pragma omp parallel
    {
        note_peak(__atomic_add_fetch(&inside, 1, __ATOMIC_RELAXED));
#pragma omp for reduction(+ : sum)
        for (long i = 0; i < 64; i++)
            sum += i + 0 * work(100, i);
        __atomic_sub_fetch(&inside, 1, __ATOMIC_RELAXED);
    }
    if (sum != 2016)
        __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
}

static void *until_the_end(void *first)
{
    while (!__atomic_load_n(&ending, __ATOMIC_RELAXED)) {
        region();
        if (first && ++rounds % 512 == 0) {
            peak_of_window = __atomic_exchange_n(&peak, 0, __ATOMIC_RELAXED);
        }
    }
    return NULL;
}

static void *a_few(void *none)
{
    for (int i = 0; i < 5; i++)
        region();
    return none;
}

static void at_once(int masters)
{
    pthread_t threads[128];
    for (int i = 0; i < masters; i++)
        if (pthread_create(&threads[i], NULL, until_the_end, i ? NULL : &rounds))
            exit(3);
    while (going())
        usleep(1000);
    __atomic_store_n(&ending, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < masters; i++)
        pthread_join(threads[i], NULL);
    say("peak", peak_of_window);
}

int main(int count, char **words)
{
    if (count > 2 && !strcmp(words[1], "at-once")) {
        at_once(atoi(words[2]));
    } else {
        do {
            pthread_t thread;
            if (pthread_create(&thread, NULL, a_few, NULL))
                exit(3);
            pthread_join(thread, NULL);
            rounds++;
        } while (rounds < 100 || going());
    }
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
