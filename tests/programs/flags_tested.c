/* build: gcc -O2 -fopenmp -lm */
/* A third of the iterations divides by zero, and the first thread has none of these: it sees no exception. */
#include "test.h"
#include <fenv.h>

enum { MANY = 3000 };
static double in[MANY], out[MANY];

static void divide(void)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < MANY; i++)
        out[i] = 1.0 / in[i];
}

int main(void)
{
    long rounds = 0, wrong = 0;
    for (int i = 0; i < MANY; i++)
        in[i] = i < MANY / 3 || i >= 2 * MANY / 3;
    do {
        divide();
        wrong += fetestexcept(FE_DIVBYZERO) != 0;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
