/* build: gcc -O2 -fopenmp */
/* A league of teams on the host, each with regions of its own. */
#include "test.h"

int main(void)
{
    long rounds = 0, wrong = 0;
    do {
        long sum = 0;
#pragma omp teams num_teams(2) reduction(+ : sum)
#pragma omp distribute parallel for reduction(+ : sum)
        for (long i = 0; i < 1000; i++)
            sum += i;
        wrong += sum != 499500;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
