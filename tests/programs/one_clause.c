/* build: gcc -O2 -fopenmp */
/* Regions with a num_threads clause, and regions without one behind them, whose teams mustn't be as large.
 * Many of each in a row: some run on threads when the size changes, only the next ones may be gathered. */
#include "test.h"

enum { TEAM = 3, USUAL = 2 };

int main(void)
{
    long wrong = 0, rounds = 0;
    do {
        long with, without;
        for (long i = 0; i <= 50 * (rounds % 20); i++) {
            with = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : with)
            with++;
            wrong += with != TEAM;
        }
        for (long i = 0; i <= 50 * (rounds % 30); i++) {
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
