/* build: gcc -O2 -fopenmp */
/* Every round is two regions: one of independent threads, and one in which each thread counts in a variable
 * of its own, which has to last from one round to the next. */
#include "test.h"

#include <omp.h>

enum { TEAM = 4 };

static long mine;
#pragma omp threadprivate(mine)

int main(void)
{
    long rounds = 0, wrong = 0;
    do {
        long parts[TEAM] = {0};
        for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(TEAM)
            parts[omp_get_thread_num()]++;
        }
        for (int i = 0; i < TEAM; i++)
            wrong += parts[i] != 20;
#pragma omp parallel num_threads(TEAM) reduction(+ : wrong)
        wrong += mine++ != rounds;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
