/* build: g++ -O2 -fopenmp -Wall -Wextra -Werror */
/* Regions of fixed size whose threads hand on a token by an atomic variable of C++'s, which they spin on. */
#include "test.h"

#include <atomic>
#include <iostream>

enum { TEAM = 3, LAPS = 6 };

static long wrong, rounds;
static std::atomic<int> token;

static void round_of_laps()
{
    long sums[TEAM] = {};
    token = 0;
#pragma omp parallel num_threads(TEAM)
    {
        int mine = -1;
#pragma omp for schedule(static, 1)
        for (int i = 0; i < TEAM; i++)
            mine = i;
        for (int lap = 0; lap < LAPS; lap++) {
            while (token.load(std::memory_order_acquire) != lap * TEAM + mine) {
            }
            sums[mine] += lap + sums[(mine + TEAM - 1) % TEAM];
            token.store(lap * TEAM + mine + 1, std::memory_order_release);
        }
    }
    long expected[TEAM] = {};
    for (int lap = 0; lap < LAPS; lap++)
        for (int i = 0; i < TEAM; i++)
            expected[i] += lap + expected[(i + TEAM - 1) % TEAM];
    for (int i = 0; i < TEAM; i++)
        wrong += sums[i] != expected[i];
}

int main()
{
    do {
        round_of_laps();
        rounds++;
    } while (going());
    std::cout << "rounds=" << rounds << "\nwrong=" << wrong << std::endl;
    return wrong != 0;
}
