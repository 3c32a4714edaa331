/* build: gcc -O2 -I include -pthread
 *
 * A thread pool of one's own that follows its grant. Compile it as said above, and run two at a time:
 *
 *     scaf run ./pool 2000 & scaf run ./pool 2000
 *
 * Each has a thread for each CPU, of which as many work as the daemon grants; it prints that whenever it
 * changes. Without scaf all its threads work. What it computes is the same in any case.
 *
 * ./pool BATCHES does so many; ./pool goes on until its standard input ends.
 */
#define _GNU_SOURCE
#include "scaf.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 64, MOST = 256 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t change; /* of anything below */
    uint32_t scafs_number;
    uint32_t limit; /* threads from this number on do nothing */
    unsigned next, done;
    unsigned long sum;
    int ending;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .next = TASKS, .done = TASKS};

/* A task: 100,000 steps of a generator, some 0.3 ms. */
static unsigned long task(unsigned number)
{
    unsigned long x = number + 1;
    for (int i = 0; i < 100000; i++)
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x & 0xffff;
}

static void *work(void *argument)
{
    uint32_t mine = (uint32_t)(uintptr_t)argument;
    pthread_mutex_lock(&pool.lock);
    while (!pool.ending) {
        if (mine >= pool.limit || pool.next == TASKS) {
            pthread_cond_wait(&pool.change, &pool.lock);
            continue;
        }
        unsigned number = pool.next++;
        pthread_mutex_unlock(&pool.lock);
        unsigned long result = task(number);
        pthread_mutex_lock(&pool.lock);
        pool.sum += result;
        if (++pool.done == TASKS)
            pthread_cond_broadcast(&pool.change);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/* Sleeps until the grant changes, and has threads begin or stop between two tasks. */
static void *follow(void *argument)
{
    uint32_t threads = (uint32_t)(uintptr_t)argument, seen = 0;
    while (!__atomic_load_n(&pool.ending, __ATOMIC_RELAXED)) {
        uint32_t now = scaf_wait(pool.scafs_number, seen, 200);
        if (now == seen)
            continue;
        seen = now;
        pthread_mutex_lock(&pool.lock);
        pool.limit = now < threads ? now : threads;
        pthread_cond_broadcast(&pool.change);
        pthread_mutex_unlock(&pool.lock);
        printf("threads=%u\n", (unsigned)pool.limit);
        fflush(stdout);
    }
    return NULL;
}

/* One batch of tasks; the same sum each time, however many threads there are. */
static unsigned long batch(void)
{
    struct scaf_work mark;
    pthread_mutex_lock(&pool.lock);
    scaf_begin(&mark, pool.scafs_number, (uintptr_t)task, pool.limit);
    pool.next = pool.done = 0;
    pool.sum = 0;
    pthread_cond_broadcast(&pool.change);
    while (pool.done < TASKS)
        pthread_cond_wait(&pool.change, &pool.lock);
    scaf_end(&mark, TASKS);
    unsigned long sum = pool.sum;
    pthread_mutex_unlock(&pool.lock);
    return sum;
}

static int input_has_ended(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    return poll(&input, 1, 0) > 0;
}

int main(int count, char **words)
{
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    uint32_t threads = (uint32_t)CPU_COUNT(&cpus);
    if (threads > MOST)
        threads = MOST;
    pool.scafs_number = scaf_register("pool", threads);
    pool.limit = threads;

    pthread_t workers[MOST], follower;
    for (uintptr_t i = 0; i < threads; i++)
        pthread_create(&workers[i], NULL, work, (void *)i);
    pthread_create(&follower, NULL, follow, (void *)(uintptr_t)threads);

    long batches = count > 1 ? atol(words[1]) : 0, wrong = 0;
    unsigned long first = batch();
    for (long i = 1; count > 1 ? i < batches : !input_has_ended(); i++)
        wrong += batch() != first;

    pthread_mutex_lock(&pool.lock);
    __atomic_store_n(&pool.ending, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&pool.change);
    pthread_mutex_unlock(&pool.lock);
    for (uint32_t i = 0; i < threads; i++)
        pthread_join(workers[i], NULL);
    pthread_join(follower, NULL);
    scaf_unregister(pool.scafs_number);
    printf("sum=%lu\nwrong=%ld\n", first, wrong);
    return wrong != 0;
}
