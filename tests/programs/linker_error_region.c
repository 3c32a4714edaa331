/* build: gcc -O2 -fopenmp */
/* What the dynamic linker says after regions is of the program's own searches, of which there was none. */
#include "test.h"
#include <dlfcn.h>

int main(void)
{
    long rounds = 0, wrong = 0, sum = 0;
    do {
#pragma omp parallel reduction(+ : sum)
        sum += work(1000, rounds);
        wrong += dlerror() != NULL;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return 0;
}
