/* build: clang -O2 -fopenmp=libomp */
/* What is particular to regions of LLVM's compilers: functions with many arguments, nested regions whose `if`
 * clause is false, teams, and how long threads spin. */
#include "test.h"
#include <omp.h>

extern int kmp_get_blocktime(void);
static long wrong;

/* As many variables as arguments, of several kinds; each thread looks whether it has them all. */
static void arguments(long round)
{
    long a = round, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6;
    double x = (double)round, y = x / 2;
    int array[3] = {1, 2, 3};
    long bad = 0, few = 0;
#pragma omp parallel firstprivate(a, b, c, d, e, f, g, x, y) reduction(+ : bad)
    bad += a + b + c + d + e + f + g != 7 * round + 21 || x + y != 1.5 * (double)round || array[2] != 3;
#pragma omp parallel
    __atomic_fetch_or(&few, 1, __ATOMIC_RELAXED);
#pragma omp parallel firstprivate(a) shared(bad)
    if (a != round)
        __atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
#pragma omp parallel firstprivate(a, b) shared(bad)
    if (a + b != 2 * round + 1)
        __atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
#pragma omp parallel firstprivate(a, b, c) shared(bad)
    if (a + b + c != 3 * round + 3)
        __atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
#pragma omp parallel firstprivate(a, b, c, d) shared(bad)
    if (a + b + c + d != 4 * round + 6)
        __atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
    wrong += bad != 0 || few != 1;
}

/* A barrier in a region of one thread within a team: it waits for nobody. */
static void serial_within(long round)
{
    long sum = 0, threads = 0;
#pragma omp parallel reduction(+ : sum, threads)
    {
        threads = 1;
#pragma omp single nowait
        {
#pragma omp parallel if (round < 0) reduction(+ : sum)
            {
#pragma omp barrier
                sum += 1;
#pragma omp for schedule(dynamic)
                for (int i = 0; i < 4; i++)
                    sum += 1;
#pragma omp barrier
            }
        }
#pragma omp barrier
    }
    wrong += sum != 5 || threads < 1;
}

static void league(void)
{
    long sum = 0;
#pragma omp teams num_teams(2) thread_limit(1) reduction(+ : sum)
    {
#pragma omp distribute parallel for reduction(+ : sum)
        for (long i = 0; i < 100; i++)
            sum += i;
    }
    wrong += sum != 4950;
}

int main(void)
{
    long rounds = 0;
    int own = kmp_get_blocktime(), changed = 0;
    do {
        arguments(rounds);
        serial_within(rounds);
        if (rounds % 16 == 0)
            league();
        changed |= kmp_get_blocktime() != own;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    say("changed", changed);
    return wrong != 0;
}
