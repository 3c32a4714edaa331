/* build: gcc -O2 -fopenmp */
/* Monte Carlo: each thread has its samples, and the total counts as many as were expected of all. */
#include "test.h"
#include <omp.h>

int main(void)
{
    enum { SAMPLES = 2000 };
    long rounds = 0, wrong = 0, first = 0;
    do {
        long hits = 0, total = (long)SAMPLES * omp_get_max_threads();
#pragma omp parallel reduction(+ : hits)
        {
            unsigned long x = 88172645463325252ul;
            for (int i = 0; i < SAMPLES; i++) {
                x ^= x << 13, x ^= x >> 7, x ^= x << 17;
                double across = (x & 0xffff) / 65536.0, up = (x >> 16 & 0xffff) / 65536.0;
                hits += across * across + up * up < 1;
            }
        }
        long quarter = 1000000 * hits / total;
        if (!rounds)
            first = quarter;
        wrong += quarter != first || quarter < 700000;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
