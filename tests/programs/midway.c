/* build: gcc -O2 -fopenmp -pthread */
/* One region around everything, in rounds: barriers, singles, loops of several schedules, sections, sums,
 * variables of threads. Its second argument is the team's size. The first one says what else its threads do:
 * nothing ("meeting"), hand a byte to and fro through pipes ("pipes"), meet seldom ("seldom"), or hardly ever
 * once they have been sent SIGUSR1 ("hardly"). Runs small
 * regions until it is sent SIGUSR2, and says when it has begun the one. Prints how many results were wrong.
 * Programs that include this one do something else besides (`also`), and may have many such regions
 * (`ROUNDS`). */
#define _GNU_SOURCE
#include "test.h"

#include <errno.h>
#include <omp.h>
#include <signal.h>

#ifndef ROUNDS
#define ROUNDS 0 /* One region only. */
#define also(me, team, round, here) (void)(here)
#define before(region)
#endif
enum { MOST = 16, LENGTH = 4099 };

static long wrong, rounds, handled;
static long own;
#pragma omp threadprivate(own)
static __thread volatile long mine;

static void check(int right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void handle(int signal)
{
    (void)signal;
    mine++;
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static double values[LENGTH];
static double parts[MOST][8], halves;
static long steps[MOST][16];
static long sum, singles, handed, inside, locked, last, order;
static omp_lock_t lock;
static int ends[MOST][2];
static int more;
static long rounds_here, regions;
static volatile sig_atomic_t begun;

static void begin(int signal)
{
    (void)signal;
    begun = 1;
}

/* What a team of any size computes in a round, with nothing left open behind it. */
static void round_of(int me, int team, long round)
{
    long handed_on = 0;
#pragma omp single
    sum = singles = handed = inside = locked = order = 0, last = -1, halves = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < LENGTH; i++)
        values[i] = values[i] * 0.75 + (double)((i ^ round) & 255) / 3;
    /* Sums of doubles in an order that doesn't depend on who comes first. */
    double part = 0;
    for (int i = me; i < LENGTH; i += team)
        part += values[i];
    parts[me][0] = part;
#pragma omp for schedule(dynamic, 3) reduction(+ : sum)
    for (long i = 0; i < 100; i++)
        sum += i;
#pragma omp for schedule(guided) nowait reduction(+ : sum)
    for (long i = 50; i > 0; i--)
        sum += i;
    for (int again = 0; again < 5; again++) {
#pragma omp single nowait
        __atomic_fetch_add(&singles, 1, __ATOMIC_RELAXED);
    }
#pragma omp for schedule(monotonic : dynamic) lastprivate(last)
    for (long i = 0; i < 37; i++)
        last = i;
#pragma omp single copyprivate(handed_on)
    handed_on = round;
    __atomic_fetch_add(&handed, handed_on == round, __ATOMIC_RELAXED);
#pragma omp sections nowait
    {
#pragma omp section
        __atomic_fetch_add(&singles, 1000, __ATOMIC_RELAXED);
#pragma omp section
        __atomic_fetch_add(&singles, 2000, __ATOMIC_RELAXED);
#pragma omp section
        __atomic_fetch_add(&singles, 3000, __ATOMIC_RELAXED);
    }
#pragma omp critical
    inside++;
    omp_set_lock(&lock);
    locked++;
    omp_unset_lock(&lock);
#pragma omp for schedule(dynamic, 2) ordered
    for (long i = 0; i < 13; i++) {
#pragma omp ordered
        order = order * 3 + i;
    }
#pragma omp for schedule(static, 5) nowait reduction(+ : halves)
    for (long i = 0; i < 50; i++)
        halves += (double)i / 2;
    steps[me][0] = round;
    errno = me + 1;
#pragma omp barrier
    check(errno == me + 1);
    check(omp_get_thread_num() == me && omp_get_num_threads() == team && omp_get_level() == 1);
    for (int other = 0; other < team; other++)
        check(steps[other][0] == round);
    check(sum == 4950 + 1275 && singles == 6005 && handed == team && inside == team && last == 36);
    check(order == 398574 && halves == 612.5 && locked == team);
    own++;
    check(own == round);
    check(omp_get_max_threads() == me + 3);
#pragma omp barrier
}

static void by_pipes(int me, int team)
{
    char byte = 7;
    if (me > 1 || team < 2)
        return;
    if (me == 0) {
        check(write(ends[0][1], "a", 1) == 1 && read(ends[1][0], &byte, 1) == 1 && byte == 'b');
    } else {
        check(read(ends[0][0], &byte, 1) == 1 && byte == 'a');
        byte++;
        check(write(ends[1][1], &byte, 1) == 1);
    }
}

int main(int count, char **words)
{
    if (count < 3)
        return 2;
    int pipes = !strcmp(words[1], "pipes"), seldom = !strcmp(words[1], "seldom"), size = atoi(words[2]);
    int hardly = !strcmp(words[1], "hardly");
    if (size < 1 || size > MOST || pipe(ends[0]) || pipe(ends[1]))
        return 2;
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = begin;
    sigaction(SIGUSR2, &action, NULL);
    while (!begun && going()) {
        int threads = 0;
#pragma omp parallel num_threads(size) reduction(+ : threads)
        threads++;
        check(threads == size);
        usleep(1000);
    }
    double expected = 0, found = 0;
    long last_own[MOST];
    omp_init_lock(&lock);
    do {
        rounds_here = 0;
        before(regions);
        regions++;
#pragma omp parallel num_threads(size)
        {
            int me = omp_get_thread_num(), team = omp_get_num_threads();
            omp_set_num_threads(me + 3);
            for (;;) {
#pragma omp master
                {
                    if (!rounds) {
                        say("begun", 1);
                        fflush(stdout);
                    }
                    more = going() && (!ROUNDS || rounds_here < ROUNDS);
                    rounds += more, rounds_here += more;
                }
#pragma omp barrier
                long round = rounds, here = rounds_here;
                if (!more)
                    break;
                round_of(me, team, round);
                also(me, team, round, here);
                if (pipes)
                    by_pipes(me, team);
                if (seldom)
                    mine += work(100000, me + round);
                if (hardly && __atomic_load_n(&handled, __ATOMIC_RELAXED))
                    mine += work(100000000, me + round);
                /* Some rounds leave a loop behind that nobody waits for. */
                if (round % 3 == 0) {
#pragma omp for schedule(dynamic, 2) nowait
                    for (int i = 0; i < 20; i++)
                        mine += work(10, i);
                }
            }
            last_own[me] = own;
            mine += work(1000, me);
        }
        /* The next region finds the same variables of threads. */
#pragma omp parallel num_threads(size)
        check(own == last_own[omp_get_thread_num()] && own == rounds);
    } while (ROUNDS && going());
    /* One thread alone comes to the same bits. */
    static double again[LENGTH];
    for (long round = 1; round <= rounds; round++)
        for (int i = 0; i < LENGTH; i++)
            again[i] = again[i] * 0.75 + (double)((i ^ round) & 255) / 3;
    for (int thread = 0; thread < size; thread++) {
        double part = 0;
        for (int i = thread; i < LENGTH; i += size)
            part += again[i];
        expected += part, found += parts[thread][0];
    }
    check(rounds == 0 || (expected == found && !memcmp(values, again, sizeof values)));
    say("rounds", rounds);
    say("handled", handled);
    say("wrong", wrong);
    return wrong != 0;
}
