/* build: gcc -O2 -fopenmp -fno-builtin-exp -lm */
/* Regions that fix their team's size, most of them with independent threads; some need each other when asked
 * to. The argument says which region; without one, all whose threads are independent take turns. */
#include "test.h"

#include <math.h>
#include <omp.h>
#include <signal.h>

enum { TEAM = 4, ITEMS = 1000 };

static struct {
    _Alignas(64) char *stack;
    long done;
} at[TEAM];
static int owner[ITEMS];
static long wrong, fewest = 1000, most, rounds, meetings;

/* By SIGUSR1: in the next round, the threads are to need each other. */
static volatile sig_atomic_t asked;

static void ask(int number)
{
    asked = number;
}

static int meets(void)
{
    int now = asked != 0;
    asked = 0;
    meetings += now;
    return now;
}

static inline void mark(int me, int team)
{
    if (me < 0 || me >= TEAM || team != TEAM) {
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
        return;
    }
    at[me].stack = __builtin_frame_address(0);
    at[me].done++;
}

/* Every thread of the team was there once. */
static void look(void)
{
    long real = 0;
    for (int me = 0; me < TEAM; me++) {
        int first = 1;
        for (int other = 0; other < me; other++)
            first &= at[other].stack != at[me].stack;
        real += first;
        wrong += at[me].done != 1;
    }
    memset(at, 0, sizeof at);
    fewest = real < fewest ? real : fewest;
    most = real > most ? real : most;
}

static void by_static(void)
{
#pragma omp parallel num_threads(TEAM)
    {
        int me = omp_get_thread_num();
        mark(me, omp_get_num_threads());
#pragma omp for schedule(static) nowait
        for (int i = 0; i < ITEMS; i++)
            owner[i] = me;
    }
    look();
    for (int i = 0; i < ITEMS; i++)
        wrong += owner[i] != i / (ITEMS / TEAM);
}

/* Loops that no team divides evenly: each thread has the same iterations in each round. */
static void by_shares(void)
{
    static signed char first[4][ITEMS + 1], now[4][ITEMS + 1];
    static int known;
    memset(now, -1, sizeof now);
#pragma omp parallel num_threads(TEAM)
    {
        int me = omp_get_thread_num();
        mark(me, omp_get_num_threads());
#pragma omp for schedule(static) nowait
        for (int i = 0; i < ITEMS + 1; i++)
            now[0][i] = (signed char)me;
#pragma omp for schedule(static) nowait
        for (unsigned long i = 5; i < ITEMS; i += 3)
            now[1][i] = (signed char)me;
#pragma omp for schedule(static, 7) nowait
        for (long i = ITEMS - 1; i >= 0; i -= 2)
            now[2][i] = (signed char)me;
#pragma omp for schedule(static) nowait
        for (unsigned i = 0; i < 2; i++)
            now[3][i] = (signed char)me;
    }
    look();
    if (!known++)
        memcpy(first, now, sizeof first);
    wrong += memcmp(first, now, sizeof first) != 0;
    for (int i = 0; i < ITEMS; i++)
        wrong += now[0][i] < 0 || (now[1][i] >= 0) != (i >= 5 && i % 3 == 2) ||
                 (now[2][i] >= 0) != (i % 2 == 1);
}

/* Two loops in a row, without a barrier in between, and a sum under a lock. */
static void by_chunks(void)
{
    static int first[ITEMS], second[ITEMS];
    long sum = 0;
    volatile int items = ITEMS;
    int end = items;
    memset(first, 0, sizeof first);
    memset(second, 0, sizeof second);
#pragma omp parallel num_threads(TEAM)
    {
        long mine = 0;
        mark(omp_get_thread_num(), omp_get_num_threads());
#pragma omp for schedule(dynamic, 7) nowait
        for (int i = 0; i < end; i++)
            first[i]++;
#pragma omp for schedule(guided) nowait
        for (int i = 0; i < end; i++) {
            second[i]++;
            mine += i;
        }
#pragma omp critical
        sum += mine;
    }
    look();
    wrong += sum != (long)ITEMS * (ITEMS - 1) / 2;
    for (int i = 0; i < ITEMS; i++)
        wrong += first[i] != 1 || second[i] != 1;
}

/* The region is the loop: the runtime begins it together with the team. */
static void by_one_loop(void)
{
    static unsigned char taken[ITEMS];
    memset(taken, 0, sizeof taken);
#pragma omp parallel for schedule(dynamic, 3) num_threads(TEAM)
    for (int i = 0; i < ITEMS; i++) {
        int me = omp_get_thread_num();
        if (me >= TEAM || omp_get_num_threads() != TEAM)
            __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
        taken[i]++;
    }
    for (int i = 0; i < ITEMS; i++)
        wrong += taken[i] != 1;
}

static void by_questions(void)
{
#pragma omp parallel num_threads(TEAM)
    {
        int me = omp_get_thread_num();
        mark(me, omp_get_num_threads());
        int right = omp_in_parallel() && omp_get_team_size(1) == TEAM && omp_get_team_size(0) == 1 &&
                    omp_get_team_size(2) == -1 && omp_get_ancestor_thread_num(1) == me &&
                    omp_get_ancestor_thread_num(0) == 0 && omp_get_ancestor_thread_num(2) == -1;
        if (!right)
            __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    }
    look();
}

/* When asked to, the threads wait for each other, in a way that looks like computing. */
static void by_handshake(void)
{
    static long arrived, counted;
    int now = meets();
    arrived = 0;
#pragma omp parallel num_threads(TEAM)
    {
        long turns = 1;
        mark(omp_get_thread_num(), omp_get_num_threads());
        if (now) {
            __atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
            while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < TEAM)
                turns = turns * 3 + 1;
        }
        __atomic_fetch_add(&counted, turns, __ATOMIC_RELAXED);
    }
    wrong += now && arrived != TEAM;
    look();
}

/* When asked to, they meet in `exp`, which is the C library's but for what the test puts in its place. */
static void by_barrier(void)
{
    static double before[TEAM];
    static volatile double sign = 1;
    double now = meets() ? -sign : sign;
    memset(before, 0, sizeof before);
#pragma omp parallel num_threads(TEAM)
    {
        int me = omp_get_thread_num();
        mark(me, omp_get_num_threads());
        before[me] = now;
        double got = exp(now);
        double sum = 0;
        for (int other = 0; other < TEAM; other++)
            sum += before[other];
        if (got <= 0 || (now < 0 && sum != TEAM * now))
            __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    }
    look();
}

static long nothing(void)
{
    return 0;
}

static void by_pointer(void)
{
    static long (*volatile where)(void) = nothing;
#pragma omp parallel num_threads(TEAM)
    {
        mark(omp_get_thread_num(), omp_get_num_threads());
        if (where())
            __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    }
    look();
}

static void by_turns(void)
{
    static void (*const all[])(void) = {by_static, by_chunks, by_one_loop, by_questions, by_shares};
    all[rounds % 5]();
}

int main(int count, char **words)
{
    static const struct {
        const char *name;
        void (*round)(void);
    } kinds[] = {
        {"static", by_static},   {"shares", by_shares},       {"chunks", by_chunks},
        {"one-loop", by_one_loop}, {"questions", by_questions}, {"handshake", by_handshake},
        {"barrier", by_barrier}, {"pointer", by_pointer},
    };
    void (*round)(void) = count > 1 ? NULL : by_turns;
    for (unsigned i = 0; count > 1 && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(words[1], kinds[i].name))
            round = kinds[i].round;
    if (!round)
        return 2;
    signal(SIGUSR1, ask);
    do {
        round();
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("fewest", fewest);
    say("most", most);
    say("meetings", meetings);
    say("wrong", wrong);
    return wrong != 0;
}
