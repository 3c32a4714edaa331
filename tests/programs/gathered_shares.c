/* build: gcc -O2 -fopenmp */
/* Regions of fixed size with loops that the runtime deals out by a schedule of the user's choice, ordered
 * loops, and regions that are sections. Prints how many results were wrong. */
#include "test.h"

#include <omp.h>

enum { TEAM = 4, N = 103 };

static long wrong, rounds;

static void check(int right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static long next;

/* Each iteration's ordered part comes behind that of the one before. */
#define IN_ORDER(type, from, to, step, ...)                                                \
    do {                                                                                   \
        next = 0;                                                                          \
        _Pragma("omp parallel num_threads(TEAM)")                                          \
        {                                                                                  \
            _Pragma(__VA_ARGS__)                                                           \
            for (type i = from; i < to; i += step) {                                       \
                if (i % 7 == 0)                                                            \
                    work(20, (int)i);                                                      \
                if (i % 5 != 3) {                                                          \
                    _Pragma("omp ordered")                                                 \
                    {                                                                      \
                        check(next <= (long)(i - from));                                   \
                        next = (long)(i - from);                                           \
                    }                                                                      \
                }                                                                          \
            }                                                                              \
        }                                                                                  \
        check(next != 0);                                                                  \
    } while (0)

static void by_ordering(void)
{
    IN_ORDER(long, 0, N, 1, "omp for ordered schedule(static)");
    IN_ORDER(long, 0, N, 3, "omp for ordered schedule(static, 5) nowait");
    IN_ORDER(long, 10, N, 1, "omp for ordered schedule(dynamic)");
    IN_ORDER(long, 0, N, 1, "omp for ordered schedule(dynamic, 4)");
    IN_ORDER(long, -30, N, 2, "omp for ordered schedule(guided)");
    IN_ORDER(long, 0, N, 1, "omp for ordered schedule(runtime)");
    IN_ORDER(unsigned long long, 0, N, 1, "omp for ordered schedule(static)");
    IN_ORDER(unsigned long long, 5, N, 1, "omp for ordered schedule(dynamic, 2)");
    IN_ORDER(unsigned long long, 0, N, 1, "omp for ordered schedule(guided, 2)");
    IN_ORDER(unsigned long long, 0, N, 5, "omp for ordered schedule(runtime)");
    long sum = 0;
#pragma omp parallel num_threads(TEAM)
    {
#pragma omp parallel num_threads(2)
#pragma omp for ordered schedule(dynamic) reduction(+ : sum)
        for (long i = 0; i < 10; i++) {
#pragma omp ordered
            sum += i;
        }
    }
}

/* By OMP_SCHEDULE. */
static void by_asking(void)
{
    long sum = 0, last = 0;
    unsigned long long big = 0;
    static char seen[N];
    memset(seen, 0, sizeof seen);
#pragma omp parallel for num_threads(TEAM) schedule(runtime) reduction(+ : sum)
    for (long i = 0; i < N; i++) {
        sum += i;
        seen[i]++;
    }
#pragma omp parallel for num_threads(TEAM) schedule(monotonic : runtime) reduction(+ : sum)
    for (long i = N; i > 0; i -= 2)
        sum += i;
#pragma omp parallel num_threads(TEAM) reduction(+ : sum, big)
    {
#pragma omp for schedule(runtime) lastprivate(last) nowait
        for (long i = 0; i < N; i++) {
            last = i;
            sum++;
        }
#pragma omp for schedule(nonmonotonic : runtime)
        for (unsigned long long i = 1ull << 63; i < (1ull << 63) + N; i++)
            big += i - (1ull << 63);
    }
    check(sum == N * (N - 1) / 2 + 52 * 52 + N && last == N - 1 && big == N * (N - 1) / 2);
    for (int i = 0; i < N; i++)
        check(seen[i] == 1);
}

static void by_sections(void)
{
    long sum = 0;
#pragma omp parallel sections num_threads(TEAM)
    {
#pragma omp section
#pragma omp atomic
        sum += 1;
#pragma omp section
#pragma omp atomic
        sum += 20;
#pragma omp section
#pragma omp atomic
        sum += 300;
#pragma omp section
#pragma omp atomic
        sum += 4000;
#pragma omp section
#pragma omp atomic
        sum += 50000;
    }
    check(sum == 54321);
}

/* What is chosen outside holds inside. What a thread chooses inside is its own, and ends with the region. */
static void by_choosing(void)
{
    omp_sched_t kind, other;
    int chunk, size;
    omp_get_schedule(&kind, &chunk);
    int dynamic = omp_get_dynamic(), nested = omp_get_nested(), levels = omp_get_max_active_levels();
    long sum = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : sum) private(other, size)
    {
        omp_get_schedule(&other, &size);
        check(other == kind && size == chunk && omp_get_dynamic() == dynamic);
        check(omp_get_nested() == nested && omp_get_max_active_levels() == levels);
        omp_set_schedule(omp_sched_dynamic, 9);
        omp_set_dynamic(!dynamic);
        omp_get_schedule(&other, &size);
        check(other == omp_sched_dynamic && size == 9 && omp_get_dynamic() == !dynamic);
#pragma omp barrier
#pragma omp for schedule(runtime)
        for (long i = 0; i < N; i++)
            sum += i;
        omp_set_dynamic(dynamic);
    }
    omp_get_schedule(&other, &size);
    check(other == kind && size == chunk && omp_get_dynamic() == dynamic && sum == N * (N - 1) / 2);
}

int main(void)
{
    do {
        by_choosing();
        by_ordering();
        by_asking();
        by_sections();
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
