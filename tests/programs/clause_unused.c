/* build: gcc -O2 -fopenmp */
/* A num_threads clause of a region that one thread runs alone, and a region without one after it; and another
 * one, which may be resized. */
#include "test.h"

int main(void)
{
    volatile int is_large = 0;
    long rounds = 0, alone = 0, smallest = 1000, largest = 0;
    struct sizes free_last = {{0}, 0};
    do {
        long team = 0;
#pragma omp parallel reduction(+ : team)
        team = 1;
        met(&free_last, team);
        team = 0;
#pragma omp parallel if (is_large) num_threads(3) reduction(+ : team)
        team = 1;
        alone += team == 1;
        team = 0;
#pragma omp parallel reduction(+ : team)
        team = 1;
        smallest = team < smallest ? team : smallest;
        largest = team > largest ? team : largest;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("alone", alone);
    say("smallest", smallest);
    say("largest", largest);
    say("free_last", usual(&free_last));
    return 0;
}
