/* build: gcc -O2 -fopenmp -Wno-maybe-uninitialized */
/* Regions of fixed size whose loops have iterations that wait for others, or might be cancelled. The first
 * argument says which. Prints how many results were wrong. */
#include "test.h"

#include <omp.h>

enum { TEAM = 3, N = 29, ROWS = 7, COLUMNS = 5 };

static long wrong, rounds;
/* 0, unknown to the compiler: what follows from it may not fit a signed number. */
static volatile long nothing;

static void check(int right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

/* Each iteration adds up what two before it have left. */
#define LINE(type, ...)                                                                                      \
    do {                                                                                                     \
        static unsigned long sums[N + 3];                                                                    \
        memset(sums, 0, sizeof sums);                                                                        \
        sums[0] = 1;                                                                                         \
        _Pragma("omp parallel num_threads(TEAM)")                                                            \
        {                                                                                                    \
            _Pragma(__VA_ARGS__)                                                                             \
            for (type i = 3; i < N + 3 + (type)nothing; i++) {                                               \
                if (i % 7 == 0)                                                                              \
                    work(30, (long)i);                                                                       \
                _Pragma("omp ordered depend(sink : i - 1) depend(sink : i - 3)")                             \
                sums[i] = sums[i - 1] + 3 * sums[i - 3] + 1;                                                 \
                _Pragma("omp ordered depend(source)")                                                        \
                work(10, (long)i);                                                                           \
            }                                                                                                \
        }                                                                                                    \
        unsigned long a = 1, b = 0, c = 0;                                                                   \
        for (int i = 3; i < N + 3; i++) {                                                                    \
            unsigned long next = c + 3 * a + 1;                                                              \
            check(sums[i] == next);                                                                          \
            a = b, b = c, c = next;                                                                          \
        }                                                                                                    \
    } while (0)

#define PRAGMA(...) _Pragma(#__VA_ARGS__)

/* A table in which each place depends on three neighbours. */
#define TABLE(type, step, ...)                                                                               \
    do {                                                                                                     \
        static unsigned long sums[ROWS + 2][COLUMNS + 2];                                                    \
        memset(sums, 0, sizeof sums);                                                                        \
        _Pragma("omp parallel num_threads(TEAM)")                                                            \
        {                                                                                                    \
            _Pragma(__VA_ARGS__)                                                                             \
            for (type i = 1; i <= ROWS + (type)nothing; i++)                                                 \
                for (type j = 1; j <= COLUMNS; j += step) {                                                  \
                    PRAGMA(omp ordered depend(sink : i - 1, j) depend(sink : i, j - step)                    \
                           depend(sink : i - 1, j - step))                                                   \
                    sums[i][j] = neighbours(sums, (int)i, (int)j, step);                                     \
                    _Pragma("omp ordered depend(source)")                                                    \
                    work(5, (long)j);                                                                        \
                }                                                                                            \
        }                                                                                                    \
        check_table(sums, step);                                                                             \
    } while (0)

static unsigned long neighbours(unsigned long sums[][COLUMNS + 2], int i, int j, int step)
{
    return sums[i - 1][j] + (j > step ? sums[i][j - step] + 2 * sums[i - 1][j - step] : 0) + (unsigned long)i;
}

static void check_table(unsigned long sums[][COLUMNS + 2], int step)
{
    unsigned long again[ROWS + 2][COLUMNS + 2];
    memset(again, 0, sizeof again);
    for (int i = 1; i <= ROWS; i++)
        for (int j = 1; j <= COLUMNS; j += step)
            again[i][j] = neighbours(again, i, j, step);
    check(!memcmp(again, sums, sizeof again));
}

static void by_waiting(void)
{
    LINE(int, "omp for ordered(1)");
    LINE(long, "omp for ordered(1) schedule(static) nowait");
    LINE(long, "omp for ordered(1) schedule(static, 3)");
    LINE(int, "omp for ordered(1) schedule(dynamic)");
    LINE(long, "omp for ordered(1) schedule(dynamic, 4)");
    LINE(int, "omp for ordered(1) schedule(guided, 2)");
    LINE(long, "omp for ordered(1) schedule(runtime)");
    LINE(unsigned long long, "omp for ordered(1) schedule(static)");
    LINE(unsigned long long, "omp for ordered(1) schedule(static, 2) nowait");
    LINE(unsigned long long, "omp for ordered(1) schedule(dynamic, 3)");
    LINE(unsigned long long, "omp for ordered(1) schedule(guided)");
    LINE(unsigned long long, "omp for ordered(1) schedule(runtime)");
    TABLE(int, 1, "omp for ordered(2)");
    TABLE(int, 2, "omp for ordered(2) schedule(dynamic, 2)");
    TABLE(long, 1, "omp for ordered(2) schedule(static, 1)");
    TABLE(long, 3, "omp for ordered(2) schedule(guided)");
    TABLE(unsigned long long, 1, "omp for ordered(2) schedule(dynamic)");
    TABLE(unsigned long long, 1, "omp for ordered(2) schedule(runtime)");
}

/* Eight loops: more numbers than fit registers. */
typedef long table[3][3][2][2][2][2][3][3];

#define EIGHT_LOOPS                                                                                          \
    for (int a = 0; a < 3; a++)                                                                              \
        for (int b = 0; b < 3; b++)                                                                          \
            for (int c = 0; c < 2; c++)                                                                      \
                for (int d = 0; d < 2; d++)                                                                  \
                    for (int e = 0; e < 2; e++)                                                              \
                        for (int f = 0; f < 2; f++)                                                          \
                            for (int g = 0; g < 3; g++)                                                      \
                                for (int h = 2; h >= 0; h--)

static long both(table sums, int a, int b, int c, int d, int e, int f, int g, int h)
{
    long above = a ? sums[a - 1][b][c][d][e][f][g][h] : 1;
    return 3 * above + (g && h < 2 ? sums[a][b][c][d][e][f][g - 1][h + 1] : 0);
}

static void by_depth(void)
{
    static table sums, again;
    memset(sums, 0, sizeof sums);
    memset(again, 0, sizeof again);
    EIGHT_LOOPS
    again[a][b][c][d][e][f][g][h] = both(again, a, b, c, d, e, f, g, h);
#pragma omp parallel num_threads(TEAM)
    {
#pragma omp for ordered(8) schedule(dynamic)
        EIGHT_LOOPS
        {
#pragma omp ordered depend(sink : a - 1, b, c, d, e, f, g, h) depend(sink : a, b, c, d, e, f, g - 1, h + 1)
            sums[a][b][c][d][e][f][g][h] = both(sums, a, b, c, d, e, f, g, h);
#pragma omp ordered depend(source)
        }
    }
    check(!memcmp(again, sums, sizeof sums));
}

/* Loops in regions of one thread, within one that waits itself. */
static void by_nesting(void)
{
    static long outer[20];
#pragma omp parallel num_threads(TEAM)
    {
#pragma omp for ordered(1) schedule(dynamic)
        for (int round = 1; round < 20; round++) {
            long last = 0;
#pragma omp parallel num_threads(2) shared(last)
#pragma omp for ordered(1) schedule(static, 2)
            for (int i = 0; i < 10; i++) {
#pragma omp ordered depend(sink : i - 1)
                last = 2 * last + i;
#pragma omp ordered depend(source)
            }
#pragma omp ordered depend(sink : round - 1)
            outer[round] = outer[round - 1] + last;
#pragma omp ordered depend(source)
        }
    }
    check(outer[19] == 19 * 1013);
}

/* Loops whose room is large: it comes and goes. */
static void by_size(void)
{
    enum { LARGE = 1 << 14 };
    static int seen[LARGE];
    memset(seen, 0, sizeof seen);
#pragma omp parallel num_threads(TEAM)
    for (int turn = 0; turn < 3; turn++) {
#pragma omp for ordered(1) schedule(guided) nowait
        for (int i = 0; i < LARGE; i++) {
            if (i % 512 == 0) {
#pragma omp ordered depend(sink : i - 512)
                seen[i] = i ? seen[i - 512] + 1 : turn;
            }
#pragma omp ordered depend(source)
        }
#pragma omp barrier
#pragma omp single
        check(seen[LARGE - 512] == LARGE / 512 - 1 + turn);
    }
}

/* Constructs that are cancelled if the user wants that. */
static void by_cancelling(void)
{
    long some = 0, others = 0, behind = 0, before = 0;
    int on = omp_get_cancellation();
#pragma omp parallel num_threads(TEAM) reduction(+ : some, others, behind, before)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < N; i++) {
            some++;
            if (i == 5) {
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
#pragma omp sections
        {
#pragma omp section
            others++;
#pragma omp section
            {
                others++;
#pragma omp cancel sections
                others++;
            }
#pragma omp section
            {
#pragma omp cancellation point sections
                others++;
            }
        }
        int first = 0;
#pragma omp single copyprivate(first)
        first = 1;
        before += first;
    }
    check(before == TEAM && (on ? some > 5 && others > 1 : some == N && others == 4));
#pragma omp parallel num_threads(TEAM) reduction(+ : behind)
    {
#pragma omp barrier
#pragma omp cancel parallel
#pragma omp barrier
        behind++;
#pragma omp cancellation point parallel
        behind++;
    }
    check(behind == (on ? 0 : 2 * TEAM));
}

static const struct kind kinds[] = {
    {"waiting", by_waiting}, {"depth", by_depth}, {"nesting", by_nesting},
    {"size", by_size}, {"cancelling", by_cancelling},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

int main(int count, char **words)
{
    return do_rounds(kinds, KINDS, 0, count, words, &rounds, &wrong);
}
