/* build: gcc -O2 -fopenmp */
/*
 * Every construct by which gcc 12 enters or divides a region. Prints for each how often its result was wrong,
 * and the largest team of all rounds and of the last ones. Loops count the threads that got an iteration: the
 * team may have more. Sections within a region are in sections.c, for they keep scaf from resizing regions.
 */
#include "test.h"

#define N 500
static const long SUM = (long)N * (N - 1) / 2;

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define LOOP(name, ...)                                                                   \
    static long name(long *team)                                                          \
    {                                                                                     \
        long sum = 0, threads = 0;                                                        \
        PRAGMA(omp parallel for reduction(+ : sum, threads) schedule(__VA_ARGS__))        \
        for (long i = 0; i < N; i++) {                                                    \
            threads = 1;                                                                  \
            sum += i;                                                                     \
        }                                                                                 \
        *team = threads;                                                                  \
        return sum;                                                                       \
    }

LOOP(loop_static, static)
LOOP(loop_static_chunks, static, 8)
LOOP(loop_dynamic, dynamic)
LOOP(loop_dynamic_monotonic, monotonic : dynamic, 3)
LOOP(loop_dynamic_nonmonotonic, nonmonotonic : dynamic, 3)
LOOP(loop_guided, guided)
LOOP(loop_guided_monotonic, monotonic : guided)
LOOP(loop_guided_nonmonotonic, nonmonotonic : guided, 2)
LOOP(loop_runtime, runtime)
LOOP(loop_runtime_monotonic, monotonic : runtime)
LOOP(loop_runtime_nonmonotonic, nonmonotonic : runtime)

static long plain(long *team)
{
    long threads = 0;
#pragma omp parallel
    {
#pragma omp atomic
        threads++;
    }
    *team = threads;
    return SUM;
}

static long loop_simd(long *team)
{
    long sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
    for (long i = 0; i < N; i++)
        sum += i;
    *team = 1;
    return sum;
}

static long loop_ordered(long *team)
{
    long sum = 0, threads = 0, next = 0, wrong = 0;
#pragma omp parallel for ordered schedule(dynamic) reduction(+ : sum, threads, wrong)
    for (long i = 0; i < N; i++) {
        threads = 1;
        sum += i;
#pragma omp ordered
        wrong += next++ != i;
    }
    *team = threads;
    return sum + wrong;
}

static long loop_unsigned_long_long(long *team)
{
    long sum = 0, threads = 0;
#pragma omp parallel for schedule(dynamic, 5) reduction(+ : sum, threads)
    for (unsigned long long i = 0; i < N; i++) {
        threads = 1;
        sum += (long)i;
    }
    *team = threads;
    return sum;
}

static long loops_without_wait(long *team)
{
    long sum = 0, threads = 0;
#pragma omp parallel reduction(+ : threads)
    {
        threads = 1;
#pragma omp for schedule(dynamic) nowait reduction(+ : sum)
        for (long i = 0; i < N / 2; i++)
            sum += i;
#pragma omp for schedule(guided) reduction(+ : sum)
        for (long i = N / 2; i < N; i++)
            sum += i;
    }
    *team = threads;
    return sum;
}

/* Without a reduction: with one, gcc makes it sections within a region. */
static long sections_combined(long *team)
{
    long sum = 0;
#pragma omp parallel sections
    {
#pragma omp section
#pragma omp atomic
        sum += SUM / 3;
#pragma omp section
#pragma omp atomic
        sum += SUM / 3;
#pragma omp section
#pragma omp atomic
        sum += SUM - 2 * (SUM / 3);
    }
    *team = 1;
    return sum;
}

static long task_loop_unsigned_long_long(long *team)
{
    long sum = 0, threads = 0;
#pragma omp parallel reduction(+ : threads)
    {
        threads = 1;
#pragma omp single
#pragma omp taskloop num_tasks(11)
        for (unsigned long long i = 0; i < N; i++) {
#pragma omp atomic
            sum += (long)i;
        }
    }
    *team = threads;
    return sum;
}

static long tasks_with_dependences(long *team)
{
    long sum = 0, threads = 0, baton = 0;
#pragma omp parallel reduction(+ : threads)
    {
        threads = 1;
#pragma omp single
        {
            for (long i = 0; i < N; i++) {
#pragma omp task depend(inout : baton)
                if (baton++ == i)
                    sum += i;
            }
#pragma omp taskwait
        }
    }
    *team = threads;
    return sum;
}

static long singles(long *team)
{
    long sum = 0, threads = 0, mine;
#pragma omp parallel private(mine) reduction(+ : threads)
    {
        threads = 1;
        for (int round = 0; round < 4; round++) {
#pragma omp single copyprivate(mine)
            mine = SUM / 4;
#pragma omp barrier
#pragma omp single
            sum += round ? mine : SUM - 3 * mine;
        }
    }
    *team = threads;
    return sum;
}

static long phase[2];

static __attribute__((noinline)) void cross_over(int from)
{
    /* Orphaned: the barrier is not in the region's own function. */
#pragma omp barrier
#pragma omp single
    phase[!from] = phase[from] + SUM / 2;
#pragma omp barrier
}

static long orphaned_barriers(long *team)
{
    long threads = 0;
    phase[0] = phase[1] = 0;
#pragma omp parallel reduction(+ : threads)
    {
        threads = 1;
        cross_over(0);
        cross_over(1);
    }
    *team = threads;
    return phase[0] + SUM % 2;
}

static long locks(long *team)
{
    long sum = 0, threads = 0;
#pragma omp parallel reduction(+ : threads)
    {
        threads = 1;
#pragma omp for schedule(static)
        for (long i = 0; i < N; i++) {
#pragma omp critical
            sum += i;
        }
    }
    *team = threads;
    return sum;
}

static long not_parallel(long *team)
{
    long threads = 0;
#pragma omp parallel if (threads != 0)
    threads++;
    *team = threads;
    return SUM;
}

static const struct {
    const char *name;
    long (*run)(long *team);
} CONSTRUCTS[] = {
#define C(name) {#name, name}
    C(plain), C(loop_static), C(loop_static_chunks), C(loop_dynamic), C(loop_dynamic_monotonic),
    C(loop_dynamic_nonmonotonic), C(loop_guided), C(loop_guided_monotonic), C(loop_guided_nonmonotonic),
    C(loop_runtime), C(loop_runtime_monotonic), C(loop_runtime_nonmonotonic), C(loop_simd), C(loop_ordered),
    C(loop_unsigned_long_long), C(loops_without_wait), C(sections_combined),
    C(task_loop_unsigned_long_long), C(tasks_with_dependences), C(singles), C(orphaned_barriers),
    C(locks), C(not_parallel),
};
#define COUNT (sizeof CONSTRUCTS / sizeof *CONSTRUCTS)

int main(void)
{
    static long wrong[COUNT], largest[COUNT];
    static struct sizes last[COUNT];
    long rounds = 0;
    do {
        for (size_t i = 0; i < COUNT; i++) {
            long team = 0;
            wrong[i] += CONSTRUCTS[i].run(&team) != SUM;
            met(&last[i], team);
            largest[i] = team > largest[i] ? team : largest[i];
        }
        rounds++;
    } while (going());
    say("rounds", rounds);
    for (size_t i = 0; i < COUNT; i++)
        printf("construct=%s %ld %ld %ld\n", CONSTRUCTS[i].name, wrong[i], largest[i], usual(&last[i]));
    return 0;
}
