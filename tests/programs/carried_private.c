/* build: gcc -O2 -fopenmp */
/* Noise by a generator of each thread's own, which goes on over the chunks of a static schedule. */
#include "test.h"

enum { COUNT = 4096 };

static void fill(long *noise)
{
#pragma omp parallel
    {
        unsigned long state = 88172645463325252ul;
#pragma omp for schedule(static, 16)
        for (int i = 0; i < COUNT; i++) {
            state = state * 6364136223846793005ul + 1442695040888963407ul;
            noise[i] = (long)(state >> 33);
        }
    }
}

int main(void)
{
    static long expected[COUNT], noise[COUNT];
    long wrong = 0, rounds = 0;
    do {
        fill(rounds ? noise : expected);
        wrong += rounds && memcmp(noise, expected, sizeof noise);
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
