/* build: gcc -O2 -I include -pthread
 * What programs may do with include/scaf.h, one kind a run. */
#include "test.h"
#include "scaf.h"
#include <pthread.h>
#include <sys/wait.h>

enum { THREADS = 2 };

static long parallel(long steps)
{
    return work(steps, 1);
}

static void *worker(void *steps)
{
    return (void *)parallel((long)steps);
}

/* One piece of work on so many threads, measured. */
static long piece(uint32_t pool, uint32_t threads, long steps)
{
    struct scaf_work mark;
    pthread_t others[THREADS];
    scaf_begin(&mark, pool, (uintptr_t)parallel, threads);
    for (uint32_t i = 1; i < threads; i++)
        pthread_create(&others[i], NULL, worker, (void *)(steps / threads));
    long sum = parallel(steps / threads);
    for (uint32_t i = 1; i < threads; i++) {
        void *more;
        pthread_join(others[i], &more);
        sum += (long)more;
    }
    scaf_end(&mark, (uint64_t)steps);
    return sum;
}

/* Pieces on as many threads as granted, until it is told to end. */
static void rounds(uint32_t pool)
{
    while (going()) {
        uint32_t now = scaf_dop(pool);
        piece(pool, now < THREADS ? now : THREADS, 1000000);
    }
    say("last", scaf_dop(pool));
}

/* Only begins and ends, from many threads, nested and swapped. */
static struct scaf_work handed;

static void *end_it(void *unused)
{
    scaf_end(&handed, 1);
    return unused;
}

static void odd_uses(uint32_t pool)
{
    struct scaf_work outer, inner;
    while (going()) {
        scaf_begin(&outer, pool, ~0ull, 100000);
        scaf_begin(&inner, pool, 0, 0);
        scaf_end(&outer, ~0ull);
        scaf_end(&inner, 0);
        scaf_end(&inner, 0);
        pthread_t thread;
        scaf_begin(&handed, pool, 7, 2);
        pthread_create(&thread, NULL, end_it, NULL);
        pthread_join(thread, NULL);
        scaf_begin(&outer, 9999, 1, 1); /* no such pool */
        scaf_end(&outer, 1);
        scaf_begin(&outer, pool, 5, 2); /* never ended */
        piece(pool, THREADS, 20000);
    }
    say("managed", scaf_managed());
}

/* A child goes on with its parent's pool. */
static void fork_on(uint32_t pool)
{
    while (scaf_dop(pool) != 1)
        scaf_wait(pool, scaf_dop(pool), 100);
    struct scaf_work mark;
    scaf_begin(&mark, pool, 1, 1);
    pid_t child = fork();
    scaf_end(&mark, 1);
    if (child != 0)
        say("child", child);
    rounds(pool);
    if (child == 0)
        _exit(scaf_managed() ? 3 : 4);
    int status = 0;
    waitpid(child, &status, 0);
    say("child_managed", WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

/* Everything that has a limit. */
static void limits(uint32_t pool)
{
    errno = 77;
    say("version", scaf_api_version());
    say("too_few", scaf_register("none", 0));
    say("too_many", scaf_register("many", SCAF_MOST_THREADS + 1));
    say("of_none", scaf_dop(0));
    say("of_unknown", scaf_dop(31) + scaf_dop(~0u));
    uint32_t others[2 * SCAF_MOST_POOLS], count = 0;
    while ((others[count] = scaf_register(NULL, 1)) != 0)
        count++;
    say("pools", count + 1);
    say("of_narrow", scaf_dop(others[0]));
    while (count-- > 0)
        scaf_unregister(others[count]);
    uint32_t now = scaf_dop(pool);
    say("waits", scaf_wait(pool, now, 0) == now && scaf_wait(pool, now, 30) == now);
    say("differs", scaf_wait(pool, now + 1, -1) == now);
    scaf_unregister(pool);
    scaf_unregister(pool);
    say("gone", scaf_dop(pool));
    say("errno", errno);
}

static void *follow(void *pool)
{
    uint32_t number = (uint32_t)(uintptr_t)pool;
    scaf_wait(number, scaf_dop(number), -1);
    return NULL;
}

/* Whoever waits for a pool comes back when it is gone. */
static void take_down(uint32_t pool)
{
    pthread_t waiter;
    pthread_create(&waiter, NULL, follow, (void *)(uintptr_t)pool);
    usleep(50000);
    scaf_unregister(pool);
    pthread_join(waiter, NULL);
    say("back", 1);
    while (going())
        usleep(10000);
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "rounds";
    if (count > 2 && dlopen(words[2], RTLD_NOW | RTLD_GLOBAL) == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    uint32_t pool = scaf_register("test", THREADS);
    say("pool", pool);
    if (strcmp(how, "odd") == 0)
        odd_uses(pool);
    else if (strcmp(how, "fork") == 0)
        fork_on(pool);
    else if (strcmp(how, "limits") == 0)
        limits(pool);
    else if (strcmp(how, "gone") == 0)
        take_down(pool);
    else
        rounds(pool);
    return 0;
}
