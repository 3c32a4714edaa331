/* build: gcc -O2 -fopenmp -Wno-maybe-uninitialized */
/* Regions of fixed size whose loops say by arguments that they want memory which the threads share: for
 * scans, and for conditional lastprivate variables; or what their tasks add up. The first argument says
 * which. Prints how many results were wrong. */
#include "test.h"

#include <omp.h>

enum { TEAM = 3, N = 29 };

static long wrong, rounds;
/* 0, unknown to the compiler: what follows from it may not fit a signed number. */
static volatile long nothing;

static void check(int right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

/* The last value that any iteration has given, in the loop's order. Loops in functions of their own, which
 * may be called anywhere, are told of it by arguments. */
static long last, other, from;

#define CONDITIONAL(name, type, first, ...)                                                                  \
    __attribute__((noinline)) static void name(void)                                                         \
    {                                                                                                        \
        _Pragma(__VA_ARGS__)                                                                                 \
        for (type i = first; i < first + N + (type)nothing; i++) {                                           \
            if ((long)(i - first) <= from)                                                                   \
                last = (long)i;                                                                              \
            if (i % 7 == 2)                                                                                  \
                other = (long)i;                                                                             \
            work(5, (long)i);                                                                                \
        }                                                                                                    \
        _Pragma("omp single")                                                                                \
        {                                                                                                    \
            check(last == (long)first + from);                                                               \
            check(other % 7 == 2 && other + 7 >= (long)first + N && other < (long)first + N);                \
            last = other = -1;                                                                               \
        }                                                                                                    \
    }

CONDITIONAL(statically, long, 0, "omp for lastprivate(conditional : last, other)")
CONDITIONAL(in_twos, int, 3, "omp for lastprivate(conditional : last, other) schedule(static, 2)")
CONDITIONAL(dynamically, long, 5, "omp for lastprivate(conditional : last, other) schedule(dynamic)")
CONDITIONAL(in_threes, int, 0, "omp for lastprivate(conditional : last, other) schedule(dynamic, 3)")
CONDITIONAL(guided, long, 1, "omp for lastprivate(conditional : last, other) schedule(guided)")
CONDITIONAL(by_setting, long, 1, "omp for lastprivate(conditional : last, other) schedule(runtime)")
CONDITIONAL(by_setting_in_order, long, 1,
            "omp for lastprivate(conditional : last, other) schedule(monotonic : runtime)")
CONDITIONAL(statically_unsigned, unsigned long long, 2, "omp for lastprivate(conditional : last, other)")
CONDITIONAL(in_fives, unsigned long long, 2,
            "omp for lastprivate(conditional : last, other) schedule(dynamic, 5)")
CONDITIONAL(by_setting_unsigned, unsigned long long, 2,
            "omp for lastprivate(conditional : last, other) schedule(runtime)")
CONDITIONAL(in_order, long, 4, "omp for lastprivate(conditional : last, other) ordered schedule(dynamic, 2)")
CONDITIONAL(in_order_unsigned, unsigned long long, 1,
            "omp for lastprivate(conditional : last, other) ordered schedule(static)")
CONDITIONAL(across, long, 4, "omp for lastprivate(conditional : last, other) ordered(1) schedule(dynamic, 2)")
CONDITIONAL(across_unsigned, unsigned long long, 1,
            "omp for lastprivate(conditional : last, other) ordered(1) schedule(static)")

static void by_condition(void)
{
    static void (*const loops[])(void) = {statically, in_twos, dynamically, in_threes, guided,
                                          by_setting, by_setting_in_order, statically_unsigned,
                                          in_fives, by_setting_unsigned, in_order, in_order_unsigned,
                                          across, across_unsigned};
    from = rounds % (N - 1);
#pragma omp parallel num_threads(TEAM)
    {
        for (unsigned i = 0; i < sizeof loops / sizeof *loops; i++)
            loops[i]();
#pragma omp for lastprivate(conditional : last) schedule(dynamic, 2)
        for (int i = 0; i < N; i++)
            if (i <= from)
                last = i;
        check(last == from);
    }
    long first = 0, final = 0;
#pragma omp parallel num_threads(TEAM)
    {
#pragma omp sections lastprivate(conditional : first, final)
        {
#pragma omp section
            {
                first = 1;
                final = 1;
            }
#pragma omp section
            first = 2;
#pragma omp section
            {
                if (rounds & 1)
                    first = 3;
                final = 3;
            }
        }
        check(first == 2 + (rounds & 1) && final == 3);
/* Alone, one after the other. */
#pragma omp critical
#pragma omp parallel num_threads(2)
        for (unsigned i = 0; i < sizeof loops / sizeof *loops; i++)
            loops[i]();
    }
}

/* Sums of all that come before. */
static void by_scanning(void)
{
    static long values[N], sums[N];
    long sum = 0, most = 0;
    for (int i = 0; i < N; i++)
        values[i] = (i * 37 + rounds) % 101;
#pragma omp parallel num_threads(TEAM)
    {
#pragma omp for reduction(inscan, + : sum)
        for (int i = 0; i < N; i++) {
            sum += values[i];
#pragma omp scan inclusive(sum)
            sums[i] = sum;
        }
#pragma omp single
        {
            long expected = 0;
            for (int i = 0; i < N; i++)
                check(sums[i] == (expected += values[i]));
        }
#pragma omp for reduction(inscan, max : most)
        for (int i = 0; i < N; i++) {
            sums[i] = most;
#pragma omp scan exclusive(most)
            most = values[i] > most ? values[i] : most;
        }
    }
    long expected = 0;
    for (int i = 0; i < N; i++) {
        check(sums[i] == expected);
        expected = values[i] > expected ? values[i] : expected;
    }
}

/* Tasks of a loop or of sections add up what its members have. */
static long sum, product, dealt;
static double large[300];

#define ADDING(name, type, ...)                                                                              \
    __attribute__((noinline)) static void name(void)                                                         \
    {                                                                                                        \
        _Pragma(__VA_ARGS__)                                                                                 \
        for (type i = 0; i < N + (type)nothing; i++) {                                                       \
            sum += 1000;                                                                                     \
            large[i] += 1;                                                                                   \
            _Pragma("omp task in_reduction(+ : sum, large) in_reduction(* : product)")                       \
            {                                                                                                \
                sum += (long)i;                                                                              \
                large[i + 100] += 2;                                                                         \
                product *= i % 10 == 5 ? 3 : 1;                                                              \
                _Pragma("omp task in_reduction(+ : sum)")                                                    \
                sum++;                                                                                       \
                work(20, (long)i);                                                                           \
            }                                                                                                \
        }                                                                                                    \
    }

ADDING(add_statically, long, "omp for reduction(task, + : sum, large) reduction(task, * : product)")
ADDING(add_in_twos, int,
       "omp for reduction(task, + : sum, large) reduction(task, * : product) schedule(static, 2)")
ADDING(add_dynamically, long,
       "omp for reduction(task, + : sum, large) reduction(task, * : product) schedule(dynamic, 2)")
ADDING(add_guided, unsigned long long,
       "omp for reduction(task, + : sum, large) reduction(task, * : product) schedule(guided)")
ADDING(add_by_setting, long,
       "omp for reduction(task, + : sum, large) reduction(task, * : product) schedule(runtime)")

static void by_adding(void)
{
    static void (*const loops[])(void) = {add_statically, add_in_twos, add_dynamically, add_guided,
                                          add_by_setting};
    enum { LOOPS = sizeof loops / sizeof *loops };
    long expected = 0;
    sum = dealt = 0, product = 1;
    memset(large, 0, sizeof large);
#pragma omp parallel num_threads(TEAM)
    {
        for (int i = 0; i < LOOPS; i++)
            loops[i]();
#pragma omp sections reduction(task, + : dealt)
        {
#pragma omp section
            dealt += 1;
#pragma omp section
#pragma omp task in_reduction(+ : dealt)
            dealt += 10;
#pragma omp section
#pragma omp taskgroup task_reduction(+ : sum)
            {
#pragma omp task in_reduction(+ : sum, dealt)
                {
                    dealt += 100;
                    sum += 5;
                }
            }
        }
#pragma omp single
        {
            for (int i = 0; i < N; i++)
                expected += 1001 + i;
            long product_of_all = 1;
            for (int i = 0; i < 3 * LOOPS; i++)
                product_of_all *= 3;
            check(sum == LOOPS * expected + 5 && product == product_of_all && dealt == 111);
            for (int i = 0; i < N; i++)
                check(large[i] == LOOPS && large[i + 100] == 2 * LOOPS);
        }
/* Alone, one after the other. */
#pragma omp critical
#pragma omp parallel num_threads(2)
        for (int i = 0; i < LOOPS; i++)
            loops[i]();
    }
    check(sum == LOOPS * expected * (1 + TEAM) + 5);
}

static const struct kind kinds[] = {
    {"adding", by_adding}, {"condition", by_condition}, {"scanning", by_scanning}};
enum { KINDS = sizeof kinds / sizeof *kinds };

int main(int count, char **words)
{
    return do_rounds(kinds, KINDS, 0, count, words, &rounds, &wrong);
}
