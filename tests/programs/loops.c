/* build: gcc -O2 -fopenmp */
/* Regions of about 0.2 ms whose teams may be resized. The sum is the same for every team. */
#include "test.h"

int main(void)
{
    long rounds = 0, wrong = 0, expected = 0, largest = 0, more = SIZES;
    struct sizes last = {{0}, 0};
    do {
        long sum = 0, team = 0;
#pragma omp parallel reduction(+ : team)
        {
            team = 1;
#pragma omp for reduction(+ : sum)
            for (int i = 0; i < 64; i++)
                sum += work(500, i);
        }
        if (!rounds)
            expected = sum;
        wrong += sum != expected;
        met(&last, team);
        largest = team > largest ? team : largest;
        rounds++;
    } while (going() || more-- > 0);
    say("sum", expected);
    say("rounds", rounds);
    say("wrong", wrong);
    say("largest", largest);
    say("last", usual(&last));
    return wrong != 0;
}
