/* build: gcc -O2 -fopenmp */
/* Cancelled regions, loops, sections and task groups. Run with OMP_CANCELLATION=true. */
#include "test.h"

static long done;

static void some(long i)
{
    __atomic_fetch_add(&done, 1 + 0 * work(50, i), __ATOMIC_RELAXED);
}

int main(void)
{
    long rounds = 0, wrong = 0, reached = 0, cut_short = 0;
    do {
        done = 0;
#pragma omp parallel
        {
#pragma omp for schedule(dynamic)
            for (long i = 0; i < 10000; i++) {
                some(i);
                if (i == 20) {
#pragma omp cancel for
                }
#pragma omp cancellation point for
            }
#pragma omp atomic
            reached++;
        }
        /* The thread that cancels may lose its PU just before, and the other do all the rest meanwhile. */
        wrong += done < 21 || done > 10000 || !reached;
        cut_short += done < 10000;
        done = 0;
#pragma omp parallel
        {
#pragma omp sections
            {
#pragma omp section
                {
                    some(1);
#pragma omp cancel sections
                    done += 1000;
                }
#pragma omp section
                {
#pragma omp cancellation point sections
                    some(2);
                }
            }
        }
        wrong += done < 1 || done > 2;
        done = 0;
#pragma omp parallel
        {
#pragma omp barrier
            some(3);
#pragma omp cancel parallel
#pragma omp barrier
            __atomic_fetch_add(&done, 1000, __ATOMIC_RELAXED);
        }
        wrong += done < 1 || done >= 1000;
        done = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        for (long i = 0; i < 100; i++) {
#pragma omp task
            {
                some(i);
#pragma omp cancel taskgroup
                __atomic_fetch_add(&done, 1000, __ATOMIC_RELAXED);
            }
        }
        wrong += done < 1 || done >= 1000;
        rounds++;
    } while (going());
    wrong += cut_short == 0 && rounds > 10;
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
