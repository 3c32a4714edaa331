/* A rival: a pool of threads of its own, one for each CPU that it may use, which spin until all have arrived.
 * Its work is fixed: about 2 s of one thread, in pieces of a tenth of a millisecond. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 2000, PIECES = 12, STEPS = 60000, MOST = 256 };

static int members, arrived, generation;
static unsigned long sums[MOST];

static unsigned long piece(unsigned long x)
{
    for (int i = 0; i < STEPS; i++)
        x = x * 6364136223846793005ul + 1442695040888963407ul;
    return x;
}

static void meet(void)
{
    int now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == members) {
        __atomic_store_n(&arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&generation, now + 1, __ATOMIC_RELEASE);
        return;
    }
    while (__atomic_load_n(&generation, __ATOMIC_ACQUIRE) == now)
        __builtin_ia32_pause();
}

static void *member(void *argument)
{
    long me = (long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = me; i < PIECES; i += members)
            sums[me] += piece(round * PIECES + i);
        meet();
    }
    return 0;
}

int main(void)
{
    cpu_set_t own;
    sched_getaffinity(0, sizeof own, &own);
    members = CPU_COUNT(&own) < MOST ? CPU_COUNT(&own) : MOST;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pthread_t others[MOST];
    for (long i = 1; i < members; i++)
        if (pthread_create(&others[i], 0, member, (void *)i))
            return 2;
    member(0);
    unsigned long sum = sums[0];
    for (int i = 1; i < members; i++) {
        pthread_join(others[i], 0);
        sum += sums[i];
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = end.tv_sec - start.tv_sec + (end.tv_nsec - start.tv_nsec) / 1e9;
    printf("{\"name\":\"pool\",\"seconds\":%f,\"verified\":true,\"value\":\"%lu\"}\n", seconds, sum);
    return 0;
}
