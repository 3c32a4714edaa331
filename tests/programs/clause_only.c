/* build: gcc -O2 -fopenmp */
/* A region with a num_threads clause, which keeps its team, and one without, which may be resized. */
#include "test.h"

int main(void)
{
    long rounds = 0, smallest = 1000;
    struct sizes free_last = {{0}, 0};
    do {
        long team = 0;
#pragma omp parallel num_threads(3) reduction(+ : team)
        team = 1;
        smallest = team < smallest ? team : smallest;
        team = 0;
#pragma omp parallel reduction(+ : team)
        team = 1;
        met(&free_last, team);
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("smallest", smallest);
    say("free_last", usual(&free_last));
    return 0;
}
