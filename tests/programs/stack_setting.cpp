/* build: clang++ -O2 -fopenmp=libomp */
/* The user gives workers larger stacks than the first thread has, and they need them. */
#include "test.h"
#include <vector>

static __attribute__((noinline)) long on_stack(size_t bytes, long value)
{
    volatile char *room = (volatile char *)__builtin_alloca(bytes);
    room[0] = room[bytes - 1] = (char)(value & 7);
    return room[0] + room[bytes - 1];
}

int main(int, char **words)
{
    if (!getenv("OMP_STACKSIZE")) {
        setenv("OMP_STACKSIZE", "64 M", 1);
        execv("/proc/self/exe", words);
        return 2;
    }
    std::vector<long> results(300);
    long rounds = 0, wrong = 0;
    do {
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < results.size(); i++)
            results[i] = on_stack(i < results.size() / 3 ? 1 << 10 : 20 << 20, (long)i);
        for (size_t i = 0; i < results.size(); i++)
            wrong += results[i] != 2 * (long)(i & 7);
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
