/* build: clang++ -O2 -fopenmp=libomp */
/* A worker's iterations are invalid; the first thread raises another exception, and looks for both. */
#include "test.h"
#include <cfenv>
#include <vector>

int main()
{
    std::vector<double> in(3000, 1.0), out(3000);
    for (size_t i = 2000; i < in.size(); i++)
        in[i] = -1.0;
    long rounds = 0, wrong = 0;
    do {
        std::feclearexcept(FE_ALL_EXCEPT);
        std::feraiseexcept(FE_OVERFLOW);
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < in.size(); i++)
            out[i] = __builtin_sqrt(in[i]);
        wrong += std::fetestexcept(FE_INVALID | FE_OVERFLOW) != FE_OVERFLOW;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
