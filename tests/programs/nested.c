/* build: gcc -O2 -fopenmp */
/* Regions within regions, with loops and barriers inside. Run with OMP_MAX_ACTIVE_LEVELS=2. */
#include "test.h"

static long inner(long from)
{
    long sum = 0;
#pragma omp parallel
    {
#pragma omp for reduction(+ : sum)
        for (long i = from; i < from + 100; i++)
            sum += i;
#pragma omp barrier
#pragma omp single
        sum += 1;
    }
    return sum;
}

int main(void)
{
    long rounds = 0, wrong = 0;
    do {
        long sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic)
        for (long i = 0; i < 10; i++)
            sum += inner(i * 100);
        wrong += sum != 499500 + 10;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
