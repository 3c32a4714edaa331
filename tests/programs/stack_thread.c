/* build: gcc -O2 -fopenmp -pthread */
/* Regions are started by a thread with a small stack; its workers have usual ones, and need more. */
#include "test.h"
#include <pthread.h>

enum { MANY = 300, SMALL = 256 << 10, DEEP = 1 << 20 };
static long results[MANY], wrong, rounds;

/* What it computes takes as much of the stack as it is told. */
static __attribute__((noinline)) long on_stack(long bytes, long value)
{
    volatile char room[bytes];
    room[0] = room[bytes - 1] = (char)(value & 7);
    return room[0] + room[bytes - 1];
}

static void *run(void *none)
{
    do {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < MANY; i++)
            results[i] = on_stack(i < MANY / 3 ? 1 << 10 : DEEP, i);
        for (long i = 0; i < MANY; i++)
            wrong += results[i] != 2 * (i & 7);
        rounds++;
    } while (going());
    return none;
}

int main(void)
{
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, SMALL);
    pthread_create(&thread, &small, run, NULL);
    pthread_join(thread, NULL);
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
