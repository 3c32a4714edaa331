/* build: g++ -O1 -fopenmp -Wall -Wextra -Werror -Wl,-z,execstack */
/* Threads of regions of fixed size write code to their stacks and run it, as makers of closures do. */
#include "test.h"

#include <cstring>
#include <omp.h>

namespace {

constexpr int TEAM = 4;

/* `mov $number,%eax; ret` */
[[gnu::noinline]] int made(int number)
{
    alignas(16) unsigned char code[16] = {0xb8, 0, 0, 0, 0, 0xc3};
    std::memcpy(code + 1, &number, sizeof number);
    __builtin___clear_cache(reinterpret_cast<char *>(code), reinterpret_cast<char *>(code + sizeof code));
    int (*run)() = nullptr;
    void *at = code;
    std::memcpy(&run, &at, sizeof run);
    return run();
}

} // namespace

int main()
{
    long wrong = 0, rounds = 0;
    do {
#pragma omp parallel num_threads(TEAM) reduction(+ : wrong)
        {
            wrong += made(omp_get_thread_num()) != omp_get_thread_num();
#pragma omp barrier
            wrong += made(100 + omp_get_thread_num()) != 100 + omp_get_thread_num();
        }
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
