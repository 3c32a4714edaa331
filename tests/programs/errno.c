/* build: gcc -O2 -fopenmp */
/* Whether a region leaves errno alone, the first one too, which attaches. */
#include "test.h"
#include <errno.h>

int main(void)
{
    long rounds = 0, changed = 0;
    do {
        errno = 4711;
#pragma omp parallel
        work(10, rounds);
        changed += errno != 4711;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("changed", changed);
    return changed != 0;
}
