/* build: gcc -O2 -fopenmp -pthread */
/* Threads that are to be cancelled when they come to a region, in which plain OpenMP has no place for that.
 * Says how many didn't get through, then goes on with regions. */
#include "test.h"
#include <pthread.h>

static int team;

static void region(void)
{
    team = 0;
#pragma omp parallel num_threads(2) reduction(+ : team)
    team = 1;
}

static void *be_cancelled(void *there)
{
    pthread_cancel(pthread_self());
    region();
    *(int *)there = team;
    pthread_testcancel();
    return NULL;
}

int main(void)
{
    long missed = 0;
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        int there = 0;
        void *end = NULL;
        if (pthread_create(&thread, NULL, be_cancelled, &there) || pthread_join(thread, &end))
            return 1;
        missed += there != 2 || end != PTHREAD_CANCELED;
    }
    say("missed", missed);
    do {
        region();
        usleep(100);
    } while (going());
    say("team", team);
    return 0;
}
