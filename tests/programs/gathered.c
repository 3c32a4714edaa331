/* build: gcc -O2 -fopenmp -pthread -Wno-infinite-recursion */
/* Regions of fixed size whose threads do what a thread may do: meet, share loops out, wait for each other in
 * the kernel, hold a mutex over a barrier, fork, jump, take signals, run deep. The first argument says which;
 * without one, all by turns but those that end the program. Prints how many results were wrong. */
#define _GNU_SOURCE
#include "test.h"

#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { TEAM = 4, MEETINGS = 50 };

static long wrong, rounds;
static int own;
#pragma omp threadprivate(own)

static void check(int right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static long steps[TEAM][16];

/* Variables of threads last, and barriers hold everybody. */
static void by_meeting(void)
{
    memset(steps, 0, sizeof steps);
    static int before[TEAM];
#pragma omp parallel num_threads(TEAM)
    {
        int me = omp_get_thread_num();
        check(own == before[me]);
        check(omp_get_num_threads() == TEAM && omp_in_parallel() && omp_get_level() == 1);
        check(omp_get_team_size(1) == TEAM && omp_get_ancestor_thread_num(1) == me);
        for (int step = 1; step <= MEETINGS; step++) {
            steps[me][0] = step;
            errno = me + step;
            free(malloc((size_t)(step * 16)));
#pragma omp barrier
            check(errno == me + step);
            for (int other = 0; other < TEAM; other++)
                check(steps[other][0] == step || steps[other][0] == step + 1);
            own++;
        }
    }
    for (int i = 0; i < TEAM; i++)
        before[i] += MEETINGS;
}

/* Loops of several schedules, with and without a wait, sections, singles and critical sections. */
static void by_sharing(void)
{
    long sum = 0, done = 0, handed = 0, inside = 0, others = 0, last = -1;
    unsigned long long big = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : sum, done, handed, big)
    {
#pragma omp for schedule(dynamic, 3)
        for (long i = 0; i < 100; i++)
            sum += i;
        for (int again = 0; again < 100; again++) {
#pragma omp for schedule(guided) nowait
            for (long i = 50; i > 0; i--)
                sum += i;
#pragma omp single nowait
            done++;
        }
        /* Monotonic: LLVM's runtime 14 may lose a last value if threads take chunks from each other. */
#pragma omp for schedule(monotonic : dynamic) lastprivate(last)
        for (long i = 0; i < 37; i++)
            last = i;
#pragma omp for schedule(dynamic, 5)
        for (unsigned long long i = 1ull << 63; i < (1ull << 63) + 90; i += 2)
            big += i - (1ull << 63);
#pragma omp for schedule(guided, 2)
        for (unsigned long long i = 20; i > 2; i -= 3)
            big += i;
        long what = 0;
#pragma omp single copyprivate(what)
        what = 21;
        handed += what;
#pragma omp sections nowait
        {
#pragma omp section
            done += 1000;
#pragma omp section
            done += 2000;
#pragma omp section
            done += 3000;
        }
#pragma omp critical
        inside++;
#pragma omp critical(named)
        others++;
    }
#pragma omp parallel for num_threads(TEAM) schedule(dynamic, 7) reduction(+ : sum)
    for (long i = 0; i < 1000; i++)
        sum += i;
#pragma omp parallel for num_threads(TEAM) schedule(guided) reduction(+ : sum)
    for (long i = 1000; i > 0; i -= 4)
        sum += i;
    check(sum == 4950 + 100 * 1275 + 499500 + 125500);
    check(done == 100 + 6000 && handed == 21 * TEAM && inside == TEAM && others == TEAM && last == 36);
    check(big == 44 * 45 + 20 + 17 + 14 + 11 + 8 + 5);
}

/* Two members hand a byte to and fro through pipes. */
static void by_pipe(void)
{
    int to[2], fro[2];
    if (pipe(to) || pipe(fro))
        exit(3);
#pragma omp parallel num_threads(TEAM)
    {
        char byte = 7;
        for (char i = 0; omp_get_thread_num() < 2 && i < 3; i++) {
            if (omp_get_thread_num() == 0) {
                check(write(to[1], &i, 1) == 1 && read(fro[0], &byte, 1) == 1 && byte == i + 1);
            } else {
                check(read(to[0], &byte, 1) == 1);
                byte++;
                check(write(fro[1], &byte, 1) == 1);
            }
        }
    }
    close(to[0]), close(to[1]), close(fro[0]), close(fro[1]);
}

/* The same by a condition variable. */
static void by_condition(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    static int turn;
    turn = 0;
#pragma omp parallel num_threads(TEAM)
    {
        int me = omp_get_thread_num();
        pthread_mutex_lock(&lock);
        while (turn != TEAM - 1 - me)
            pthread_cond_wait(&changed, &lock);
        turn++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    check(turn == TEAM);
}

/* A mutex that knows its owner, held over a barrier; and a lock of OpenMP's. */
static void by_holding(void)
{
    static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    static omp_lock_t other;
    static int first = 1;
    if (first)
        omp_init_lock(&other);
    first = 0;
    long inside = 0;
#pragma omp parallel num_threads(TEAM)
    {
        int me = omp_get_thread_num();
        if (me == 1) {
            check(pthread_mutex_lock(&lock) == 0);
            omp_set_lock(&other);
        }
#pragma omp barrier
        if (me == 1) {
            usleep(200);
            inside++;
            check(pthread_mutex_lock(&lock) == EDEADLK);
            check(pthread_mutex_unlock(&lock) == 0);
            omp_unset_lock(&other);
        } else {
            check(pthread_mutex_lock(&lock) == 0);
            inside++;
            check(pthread_mutex_unlock(&lock) == 0);
            omp_set_lock(&other);
            omp_unset_lock(&other);
        }
    }
    check(inside == TEAM);
}

static volatile sig_atomic_t awake;

static void wake_up(int signal)
{
    (void)signal;
    awake = 1;
}

/* Until it is sent SIGUSR1. */
static void by_sleeping(void)
{
    struct sigaction action = {.sa_handler = wake_up, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
#pragma omp parallel num_threads(TEAM)
    {
        if (omp_get_thread_num() == 2 && !awake)
            usleep(5000);
#pragma omp barrier
        work(100, 1);
    }
}

/* Children that end at once, and that run another program. */
static void by_fork(void)
{
#pragma omp parallel num_threads(TEAM)
    {
        int me = omp_get_thread_num(), status = 1;
        pid_t child = fork();
        if (child == 0) {
            if (me == 0)
                execl("/bin/true", "true", (char *)NULL);
            /* Nobody else is there to run. */
            for (int i = 0; i < me; i++)
                sched_yield();
            _exit(own == own + 1 ? 1 : me);
        }
        check(child > 0 && waitpid(child, &status, 0) == child && status == me << 8);
#pragma omp barrier
    }
}

static void deeper(jmp_buf back, int depth)
{
    if (depth == 0)
        longjmp(back, 5);
    deeper(back, depth - 1);
}

static void by_jump(void)
{
#pragma omp parallel num_threads(TEAM)
    {
        jmp_buf back;
        if (setjmp(back) == 0)
            deeper(back, 20);
        else
            own++, own--;
#pragma omp barrier
        if (setjmp(back) == 0)
            deeper(back, 2);
    }
}

static volatile int handled;
static __thread int mine;

static void handle(int signal)
{
    (void)signal;
    mine++;
    errno = 99;
    handled++;
    errno = mine > 0 ? 0 : 1;
}

/* Signals to a thread itself, whose handler uses a variable of the thread. */
static void by_signal(void)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGUSR2, &action, NULL);
    int before = handled;
#pragma omp parallel num_threads(TEAM)
    {
        raise(SIGUSR2);
#pragma omp barrier
    }
    check(handled > before);
}

/* A profiler's timer with such a handler. */
static void by_timer(void)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    struct itimerval every = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &every, NULL);
#pragma omp parallel num_threads(TEAM)
    for (int i = 0; i < 20; i++) {
        work(200, i);
#pragma omp barrier
    }
    setitimer(ITIMER_PROF, &never, NULL);
}

/* Regions within the region, which have one thread. */
static void by_nesting(void)
{
    long sum = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : sum)
    {
        int me = omp_get_thread_num();
#pragma omp parallel num_threads(2) reduction(+ : sum)
        {
            check(omp_get_num_threads() == 1 && omp_get_thread_num() == 0 && omp_get_level() == 2);
            check(omp_get_ancestor_thread_num(1) == me);
#pragma omp barrier
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 10; i++)
                sum += i;
#pragma omp single
            sum++;
        }
#pragma omp parallel for num_threads(2) schedule(dynamic) reduction(+ : sum)
        for (int i = 0; i < 5; i++)
            sum += i;
#pragma omp barrier
        check(omp_get_thread_num() == me && omp_get_num_threads() == TEAM);
    }
    check(sum == TEAM * (45 + 1 + 10));
}

static long depth(volatile char *above, long left)
{
    volatile char here[4096];
    here[0] = here[4095] = (char)left;
    return left == 0 ? above[0] : depth(here, left - 1) + here[4095] * 0;
}

/* 6 of the 8 MiB that a thread has. */
static void by_depth(void)
{
#pragma omp parallel num_threads(TEAM)
    {
        volatile char first[1] = {0};
        depth(first, 1500);
#pragma omp barrier
    }
}

/* More than there is: ends the program. */
static void by_overflow(void)
{
#pragma omp parallel num_threads(TEAM)
    {
        volatile char first[1] = {0};
        if (rounds > 200 && omp_get_thread_num() == TEAM - 1)
            depth(first, 1L << 30);
#pragma omp barrier
    }
}

static const struct kind kinds[] = {
    {"meeting", by_meeting}, {"sharing", by_sharing}, {"pipe", by_pipe},
    {"condition", by_condition}, {"holding", by_holding}, {"sleeping", by_sleeping},
    {"fork", by_fork}, {"jump", by_jump}, {"signal", by_signal}, {"timer", by_timer}, {"nesting", by_nesting},
    {"depth", by_depth}, {"overflow", by_overflow},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

int main(int count, char **words)
{
    return do_rounds(kinds, KINDS, KINDS - 1, count, words, &rounds, &wrong);
}
