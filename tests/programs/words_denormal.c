/* build: gcc -O2 -fopenmp */
/* The first thread begins to flush denormal numbers to zero after its team was made, as a library does that
 * is built with -ffast-math and loaded later: its workers don't, so a third of three threads' results are
 * zero. */
#include "test.h"
#include <stdint.h>
#include <xmmintrin.h>

enum { MANY = 3000, FLUSH = 0x8040 };
static double in[MANY], out[MANY];

static void halve(void)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < MANY; i++)
        out[i] = in[i] * 0.5;
}

int main(void)
{
    long rounds = 0, wrong = 0;
    for (int i = 0; i < MANY; i++)
        in[i] = 2.5e-308;
    halve();
    _mm_setcsr(_mm_getcsr() | FLUSH);
    do {
        halve();
        long zeros = 0;
        for (int i = 0; i < MANY; i++) {
            uint64_t bits;
            memcpy(&bits, &out[i], sizeof bits);
            zeros += bits == 0;
        }
        wrong += zeros != MANY / 3;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
