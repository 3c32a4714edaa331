/* build: gcc -O2 -fopenmp */
/* A region with a num_threads clause, and regions without one behind it, whose teams mustn't be as large. */
#include "test.h"

enum { TEAM = 3, USUAL = 2 };

int main(void)
{
    long wrong = 0, rounds = 0;
    do {
        long with = 0, without;
#pragma omp parallel num_threads(TEAM) reduction(+ : with)
        with++;
        wrong += with != TEAM;
        for (long i = 0; i <= rounds % 2; i++) {
            without = 0;
#pragma omp parallel reduction(+ : without)
            without++;
            wrong += without > USUAL;
        }
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
