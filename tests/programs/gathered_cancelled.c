/* build: gcc -O2 -fopenmp */
/* Regions of fixed size in which constructs are cancelled. Run with OMP_CANCELLATION=true. The first argument
 * says which. Prints how many results were wrong. */
#define _GNU_SOURCE
#include "test.h"

enum { TEAM = 3, N = 29, ROUNDS = 3 };

static long wrong, rounds;
static long counts[4];

static void check(int right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static long count(int which)
{
    return __atomic_add_fetch(&counts[which], 1, __ATOMIC_RELAXED);
}

static void clear(void)
{
    memset(counts, 0, sizeof counts);
}

/* Each thread cancels at the first iteration that it comes to. The next loop isn't cancelled. */
static void by_loop(void)
{
    clear();
#pragma omp parallel num_threads(TEAM)
    for (int turn = 0; turn < ROUNDS; turn++) {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++) {
            count(0);
#pragma omp cancel for
            count(1);
        }
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++) {
#pragma omp cancellation point for
            count(2);
        }
    }
    check(counts[0] >= ROUNDS && counts[0] <= ROUNDS * TEAM);
    check(counts[1] == 0 && counts[2] == ROUNDS * N);
}

/* The same where chunks go to whoever comes: one cancels, all others learn of it. */
static void by_chunks(void)
{
    clear();
#pragma omp parallel num_threads(TEAM)
    for (int turn = 0; turn < ROUNDS; turn++) {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 10 * N; i++) {
            if (i == 5) {
#pragma omp cancel for
                count(1);
            }
#pragma omp cancellation point for
            count(0);
            work(30, i);
        }
#pragma omp for schedule(guided)
        for (int i = 0; i < N; i++)
            count(2);
    }
    check(counts[0] < ROUNDS * 10 * N);
    check(counts[1] == 0 && counts[2] == ROUNDS * N);
}

static void by_sections(void)
{
    clear();
#pragma omp parallel num_threads(TEAM)
    for (int turn = 0; turn < ROUNDS; turn++) {
#pragma omp sections
        {
#pragma omp section
            {
                count(0);
#pragma omp cancel sections
                count(1);
            }
#pragma omp section
            {
#pragma omp cancellation point sections
                count(2);
            }
        }
#pragma omp sections
        {
#pragma omp section
            count(3);
#pragma omp section
            {
#pragma omp cancellation point sections
                count(3);
            }
        }
    }
    check(counts[0] == ROUNDS && counts[1] == 0 && counts[2] <= ROUNDS && counts[3] == 2 * ROUNDS);
}

/* The kernel thread's number, from where no code analysis looks for it: else nothing would be gathered. */
__attribute__((unused)) static long kernel_thread(void)
{
    static const char *volatile folder = "/proc/";
    char place[32], name[64] = "";
    snprintf(place, sizeof place, "%sthread-%s", folder, "self");
    if (readlink(place, name, sizeof name - 1) < 0)
        abort();
    return atol(strrchr(name, '/') + 1);
}

/* Whether the calling team may cancel its region. LLVM's threads may wait for ever then, not its members. */
static int may_cancel(void)
{
#ifdef __clang__
    static long kernel_threads[TEAM], next;
    long mine = kernel_thread(), same = 1;
#pragma omp single
    next = 0;
    kernel_threads[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % TEAM] = mine;
#pragma omp barrier
    for (int i = 0; i < TEAM; i++)
        same &= kernel_threads[i] == mine;
#pragma omp barrier
    return same;
#else
    return 1;
#endif
}

/* One thread cancels the region: the others wait at a barrier, or come to know before. */
static void by_region(void)
{
    static long may;
    clear();
#pragma omp parallel num_threads(TEAM)
    {
        int can = may_cancel();
#pragma omp atomic write
        may = can;
        int first = count(0) == 1;
        if (first) {
#pragma omp cancel parallel if (can)
            count(1);
        }
        if (rounds % 2) {
#pragma omp for schedule(static) nowait
            for (int i = 0; i < N; i++)
                work(10, i);
#pragma omp cancellation point parallel
        }
#pragma omp barrier
        count(2);
#pragma omp barrier
        count(3);
    }
    check(counts[0] == TEAM || may);
    check(may ? counts[1] + counts[2] + counts[3] == 0 : counts[3] == TEAM);
    /* A region that isn't cancelled, with as many loops for all. */
    clear();
#pragma omp parallel num_threads(TEAM)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < N; i++)
            count(0);
#pragma omp single
        count(1);
#pragma omp barrier
        count(2);
    }
    check(counts[0] == N && counts[1] == 1 && counts[2] == TEAM);
}

/* One thread leaves the region early, and others go on through more loops than may be open at a time. */
static void by_running_ahead(void)
{
    enum { MANY = 150 };
    clear();
#pragma omp parallel num_threads(TEAM)
    {
        for (int turn = 0; turn < MANY; turn++) {
#pragma omp for schedule(dynamic) nowait
            for (int i = 0; i < 3; i++)
                work(5, i);
            if (turn == rounds % 7 && count(0) == 1) {
#pragma omp cancel parallel
                count(1);
            }
        }
#pragma omp barrier
        count(2);
    }
    check(counts[0] >= 1 && counts[1] == 0 && counts[2] == 0);
}

/* A task cancels its group before others are created, before others have begun, and in a chain of tasks. */
static void by_group(void)
{
    clear();
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    {
        int x = 0;
#pragma omp taskgroup
        {
#pragma omp task if (0)
            {
#pragma omp cancel taskgroup
                count(0);
            }
            for (int i = 0; i < N; i++) {
#pragma omp task firstprivate(i)
                count(0);
            }
        }
#pragma omp taskgroup
        {
#pragma omp task depend(out : x)
            {
#pragma omp cancel taskgroup
                count(0);
            }
            for (int i = 0; i < N; i++) {
#pragma omp task depend(inout : x) shared(x)
                {
                    x++;
                    count(0);
                }
            }
        }
        check(x == 0);
        /* Another group isn't cancelled, nor is one within. */
#pragma omp taskgroup
        for (int i = 0; i < N; i++) {
#pragma omp task firstprivate(i) depend(inout : x) shared(x)
            {
                x++;
#pragma omp taskgroup
                {
#pragma omp task
                    {
                        count(1);
#pragma omp cancellation point taskgroup
                        count(2);
                    }
                }
                if (i == N / 2) {
#pragma omp cancel taskgroup
                    count(0);
                }
            }
        }
        check(x == N / 2 + 1);
    }
    check(counts[0] == 0 && counts[1] == N / 2 + 1 && counts[2] == N / 2 + 1);
}

/* Tasks that are left when their region is cancelled: each is run, or dropped, but none later. */
static void by_tasks_of_region(void)
{
    static long over, may;
    __atomic_store_n(&over, 0, __ATOMIC_RELAXED);
    clear();
#pragma omp parallel num_threads(TEAM)
    {
        int can = may_cancel();
#pragma omp atomic write
        may = can;
        for (int i = 0; i < N; i++) {
#pragma omp task
            {
                check(__atomic_load_n(&over, __ATOMIC_RELAXED) == 0);
                count(0);
            }
        }
        if (count(1) == 1) {
#pragma omp cancel parallel if (can)
            count(2);
        }
#pragma omp barrier
        count(3);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    check(may ? counts[0] <= TEAM * N && counts[2] + counts[3] == 0
              : counts[0] == TEAM * N && counts[2] == 1 && counts[3] == TEAM);
    check(counts[1] == TEAM);
}

/* Regions within, each of one thread, are cancelled by themselves. */
static void by_nesting(void)
{
    clear();
#pragma omp parallel num_threads(TEAM)
    {
#pragma omp parallel num_threads(TEAM)
        {
            count(0);
#pragma omp for schedule(static)
            for (int i = 0; i < N; i++) {
#pragma omp cancel for
                count(1);
            }
#pragma omp for schedule(static)
            for (int i = 0; i < N; i++) {
#pragma omp cancellation point for
                count(2);
            }
#pragma omp cancel parallel
            count(1);
        }
#pragma omp barrier
        count(3);
    }
    check(counts[0] == TEAM && counts[1] == 0 && counts[2] == TEAM * N && counts[3] == TEAM);
}

static const struct kind kinds[] = {
    {"loop", by_loop}, {"chunks", by_chunks}, {"sections", by_sections},
    {"region", by_region}, {"ahead", by_running_ahead}, {"group", by_group},
    {"tasks", by_tasks_of_region}, {"nesting", by_nesting},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

int main(int count, char **words)
{
    return do_rounds(kinds, KINDS, 0, count, words, &rounds, &wrong);
}
