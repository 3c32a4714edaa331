/* build: gcc -O2 -fopenmp -pthread */
/* Regions for a tenth of a second, for the daemon may answer after the first, and then two threads of its own that
 * compute until the input ends: it uses two contexts in no region. */
#include "test.h"
#include <pthread.h>
#include <unistd.h>

static volatile int over;

static void *compute(void *unused)
{
    (void)unused;
    long sum = 0;
    while (!over)
        sum += work(1000, sum);
    return (void *)sum;
}

int main(void)
{
    long team = 0;
    for (int i = 0; i < 100; i++) {
        team = 0;
#pragma omp parallel reduction(+ : team)
        team = 1;
        usleep(1000);
    }
    pthread_t other;
    if (pthread_create(&other, NULL, compute, NULL))
        return 1;
    long sum = 0;
    while (going())
        sum += work(100000, sum);
    over = 1;
    pthread_join(other, NULL);
    say("team", team);
    return sum < 0;
}
