/* build: g++ -O2 -fopenmp -Wall -Wextra -Werror */
/* Each thread has a copy of an engine of C++'s library, and draws from it in its part of a static loop. */
#include "test.h"

#include <numeric>
#include <random>
#include <vector>

static std::vector<unsigned> drawn(const std::minstd_rand &begin)
{
    std::vector<unsigned> all(3000);
    std::minstd_rand engine(begin);
#pragma omp parallel for firstprivate(engine) schedule(static)
    for (std::size_t i = 0; i < all.size(); i++)
        all[i] = static_cast<unsigned>(engine() % 1000);
    return all;
}

int main()
{
    const std::minstd_rand begin(7);
    const std::vector<unsigned> expected = drawn(begin);
    long wrong = 0, rounds = 0;
    do {
        wrong += drawn(begin) != expected;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
