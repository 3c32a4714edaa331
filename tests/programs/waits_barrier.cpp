/* build: g++ -std=c++20 -O2 -fopenmp -pthread -Wall -Wextra -Werror */
/* A region's threads wait for each other at a barrier of C++'s library, for as many as OpenMP promises. */
#include "test.h"

#include <barrier>
#include <omp.h>
#include <vector>

int main()
{
    const long threads = omp_get_max_threads();
    std::vector<long> last(threads), next(threads);
    std::barrier<> all(threads);
    long wrong = 0, rounds = 0;
    do {
#pragma omp parallel
        {
            const long me = omp_get_thread_num();
            for (long step = 0; step < 4; step++) {
                next[me] = last[(me + 1) % threads] + step;
                all.arrive_and_wait();
                last[me] = next[me];
                all.arrive_and_wait();
            }
        }
        rounds++;
        for (long value : last)
            wrong += value != 6 * rounds;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
