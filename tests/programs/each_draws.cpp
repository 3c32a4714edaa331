/* build: g++ -O2 -fopenmp */
/* Each thread draws a number from an atomic counter and does the block of that number. */
#include "test.h"
#include <atomic>
#include <omp.h>
#include <vector>

int main()
{
    const long threads = omp_get_max_threads(), length = 100;
    long rounds = 0, wrong = 0;
    do {
        std::atomic<long> drawn{0};
        std::vector<long> done(threads * length);
#pragma omp parallel
        {
            const long number = drawn++;
            for (long i = number * length; i < (number + 1) * length; i++)
                done[i] += work(10, i) * 0 + 1;
        }
        for (long times : done)
            wrong += times != 1;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
