/* build: g++ -O2 -fopenmp -Wall -Wextra -Werror */
/* An interpreter that remembers where a thread's first call was, and refuses what is far from there. */
#include "test.h"

#include <cstdint>
#include <stdexcept>

namespace {

thread_local std::uintptr_t first;

struct Interpreter {
    static constexpr std::uintptr_t most = 128 << 10;

    [[gnu::noinline]] long call(long depth)
    {
        const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        if (!first)
            first = here + 1024;
        if (first - here > most)
            throw std::runtime_error("stack overflow");
        return depth ? call(depth - 1) + work(2, depth) : 0;
    }
};

} // namespace

int main()
{
    long wrong = 0, rounds = 0;
    do {
#pragma omp parallel num_threads(4) reduction(+ : wrong)
        {
            Interpreter interpreter;
            for (int i = 0; i < 3; i++) {
                try {
                    interpreter.call(40);
                } catch (const std::runtime_error &) {
                    wrong++;
                }
#pragma omp barrier
            }
        }
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
