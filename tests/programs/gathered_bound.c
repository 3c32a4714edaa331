/* build: gcc -O2 -fopenmp */
/* Regions of fixed size with clauses that say how to bind their threads, and such regions within. */
#include "test.h"

#include <omp.h>

enum { TEAM = 3 };

static long wrong;

static void check(int right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define ROUND(how, within)                                                                                   \
    do {                                                                                                     \
        long seen = 0, inner = 0;                                                                            \
        PRAGMA(omp parallel num_threads(TEAM) proc_bind(how) reduction(+ : seen, inner))                     \
        {                                                                                                    \
            seen += 1L << 8 * omp_get_thread_num();                                                          \
            check(omp_get_num_threads() == TEAM && omp_get_proc_bind() == omp_proc_bind_false);              \
            PRAGMA(omp parallel num_threads(2) proc_bind(within) reduction(+ : inner))                       \
            {                                                                                                \
                inner++;                                                                                     \
                check(omp_get_num_threads() == 1);                                                           \
            }                                                                                                \
            _Pragma("omp barrier") work(20, seen);                                                           \
        }                                                                                                    \
        check(seen == 0x010101 && inner == TEAM);                                                            \
    } while (0)

int main(void)
{
    long rounds = 0;
    do {
        ROUND(spread, close);
        ROUND(close, master);
        ROUND(master, spread);
        long plain = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : plain)
        plain += omp_get_proc_bind() == omp_proc_bind_false;
        check(plain == TEAM);
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
