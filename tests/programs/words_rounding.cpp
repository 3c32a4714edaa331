/* build: g++ -O2 -frounding-math -fopenmp */
/* The first thread rounds upwards from its second region on, and its workers to the nearest number. */
#include "test.h"
#include <cfenv>
#include <vector>

static long count_upwards(const std::vector<double> &all)
{
    long upwards = 0;
#pragma omp parallel for schedule(static) reduction(+ : upwards)
    for (size_t i = 0; i < all.size(); i++)
        upwards += all[i] / 3.0 > 0x1.5555555555555p-2;
    return upwards;
}

int main()
{
    const std::vector<double> all(3000, 1.0);
    long rounds = 0, wrong = count_upwards(all);
    std::fesetround(FE_UPWARD);
    do {
        wrong += count_upwards(all) != 1000;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
