/* build: gcc -O2 -fopenmp */
/* After two seconds, when its teams may have been resized, the first thread begins to flush denormal numbers
 * to zero, as a library does that is built with -ffast-math and loaded then: its workers don't, so a third of
 * three threads' results are zero. */
#include "test.h"
#include <stdint.h>
#include <time.h>
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
    time_t begin = time(NULL);
    int flushes = 0;
    do {
        if (!flushes && time(NULL) >= begin + 2) {
            _mm_setcsr(_mm_getcsr() | FLUSH);
            flushes = 1;
        }
        halve();
        long zeros = 0;
        for (int i = 0; i < MANY; i++) {
            uint64_t bits;
            memcpy(&bits, &out[i], sizeof bits);
            zeros += bits == 0;
        }
        wrong += zeros != (flushes ? MANY / 3 : 0);
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
