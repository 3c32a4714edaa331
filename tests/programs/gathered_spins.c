/* build: gcc -O2 -fopenmp -ffp-contract=off */
/* Regions of fixed size whose threads hand a token around by spinning on memory of their own. The first
 * argument says how they look at it. Each has numbers in registers of all kinds while it waits. Prints how
 * many results were wrong. */
#include "test.h"

#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { TEAM = 3, LAPS = 6, LANES = 8 };

static long wrong, rounds;
static struct {
    _Alignas(64) volatile long at;
} token;
static volatile int flags[TEAM * 16], stop;

static void check(int right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

/* Numbers that stay where they are while `WAIT` spins: more than the registers that a call keeps. */
#define LAP(WAIT, me, lap)                                                                                   \
    do {                                                                                                     \
        double lanes[LANES], twice[LANES];                                                                   \
        long words[LANES];                                                                                   \
        for (int i = 0; i < LANES; i++) {                                                                    \
            lanes[i] = (double)(me) + i * 0.25 + (double)(lap);                                              \
            words[i] = ((long)(me) << 40) + i * 7 + (lap);                                                   \
        }                                                                                                    \
        double a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3], e = lanes[4];                         \
        long p = words[0], q = words[1], r = words[2], s = words[3], t = words[4], u = words[5];             \
        KEEP5("x", a, b, c, d, e);                                                                           \
        KEEP5("r", p, q, r, s, t);                                                                           \
        WAIT;                                                                                                \
        KEEP5("x", a, b, c, d, e);                                                                           \
        KEEP5("r", p, q, r, s, t);                                                                           \
        for (int i = 0; i < LANES; i++)                                                                      \
            twice[i] = lanes[i] * 2;                                                                         \
        check(a == lanes[0] && b == lanes[1] && c == lanes[2] && d == lanes[3] && e == lanes[4]);            \
        check(p == words[0] && q == words[1] && r == words[2] && s == words[3] && t == words[4]);            \
        check(u == words[5] && twice[7] == lanes[7] + lanes[7]);                                             \
    } while (0)
#define KEEP5(kind, a, b, c, d, e)                                                                           \
    __asm__ volatile("" : "+" kind(a), "+" kind(b), "+" kind(c), "+" kind(d), "+" kind(e))

#define RING(WHILE, BODY)                                                                                    \
    do {                                                                                                     \
        token.at = 0;                                                                                        \
        long sum = 0;                                                                                        \
        _Pragma("omp parallel num_threads(TEAM) reduction(+ : sum)")                                         \
        {                                                                                                    \
            long me = omp_get_thread_num();                                                                  \
            for (long lap = 0; lap < LAPS; lap++) {                                                          \
                long mine = lap * TEAM + me;                                                                 \
                LAP(while (WHILE) BODY, me, lap);                                                            \
                check(token.at == mine);                                                                     \
                sum += mine;                                                                                 \
                work(10, mine);                                                                              \
                __atomic_store_n(&token.at, mine + 1, __ATOMIC_RELEASE);                                     \
            }                                                                                                \
            _Pragma("omp barrier")                                                                           \
            check(token.at == LAPS * TEAM);                                                                  \
        }                                                                                                    \
        check(sum == (long)LAPS * TEAM * (LAPS * TEAM - 1) / 2);                                             \
    } while (0)

static void by_plain(void)
{
    RING(token.at != mine, ;);
}

static void by_acquire(void)
{
    RING(__atomic_load_n(&token.at, __ATOMIC_ACQUIRE) < mine, ;);
}

static void by_flush(void)
{
    RING(token.at != mine, { _Pragma("omp flush") });
}

static void by_fence(void)
{
    RING(token.at != mine, __sync_synchronize());
}

static void by_pause(void)
{
    RING(token.at != mine, __builtin_ia32_pause());
}

static void by_yield(void)
{
    RING(token.at != mine, sched_yield());
}

static __attribute__((noinline)) void wait_for(volatile long *where, long what)
{
    for (;;) {
        if (*where == what || stop)
            return;
    }
}

static void by_function(void)
{
    RING(token.at != mine, wait_for(&token.at, mine));
}

/* A flag for each thread, as pipelines have it: one waits for the one before it, and that for it. */
static void by_flags(void)
{
    long sums[TEAM] = {0};
    for (int i = 0; i < TEAM; i++)
        flags[i * 16] = 0;
#pragma omp parallel num_threads(TEAM)
    {
        int me = omp_get_thread_num();
        for (int lap = 1; lap <= 2 * LAPS; lap++) {
            if (me > 0)
                LAP(while (flags[me * 16] == 0);, me, lap);
            sums[me] += me > 0 ? sums[me - 1] * 3 + lap : lap;
            flags[me * 16] = 0;
            work(10, lap);
            if (me + 1 < TEAM) {
                flags[(me + 1) * 16] = 1;
                while (flags[(me + 1) * 16] != 0) {
#pragma omp flush
                }
            }
        }
    }
    long again[TEAM] = {0};
    for (int lap = 1; lap <= 2 * LAPS; lap++)
        for (int i = 0; i < TEAM; i++)
            again[i] += i > 0 ? again[i - 1] * 3 + lap : lap;
    check(!memcmp(again, sums, sizeof sums));
}

static void set(int signal)
{
    (void)signal;
    stop = 1;
}

/* And in a child, which has the code that was changed: a handler ends the wait. */
static void by_fork(void)
{
    by_function();
    pid_t child = fork();
    if (!child) {
        struct itimerval soon = {.it_value.tv_usec = 3000};
        signal(SIGALRM, set);
        setitimer(ITIMER_REAL, &soon, NULL);
        wait_for(&token.at, -1);
        _exit(!stop);
    }
    int status = -1;
    check(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static const struct kind kinds[] = {
    {"plain", by_plain}, {"acquire", by_acquire}, {"flush", by_flush},       {"fence", by_fence},
    {"pause", by_pause}, {"yield", by_yield},     {"function", by_function}, {"flags", by_flags},
    {"fork", by_fork},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

int main(int count, char **words)
{
    return do_rounds(kinds, KINDS, KINDS, count, words, &rounds, &wrong);
}
