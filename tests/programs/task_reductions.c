/* build: gcc -O2 -fopenmp */
/* Reductions over tasks: gcc's code keeps a cell for each thread of the team, so the teams are not resized. */
#include "test.h"

int main(void)
{
    long rounds = 0, wrong = 0;
    do {
        long sum = 0;
#pragma omp parallel reduction(task, + : sum)
#pragma omp single
        for (long i = 0; i < 500; i++) {
#pragma omp task in_reduction(+ : sum)
            sum += i;
        }
        wrong += sum != 124750;
        sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(9) reduction(+ : sum)
        for (long i = 0; i < 500; i++)
            sum += i;
        wrong += sum != 124750;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
