/* build: gcc -O2 -fopenmp */
/* One region for as long as the program runs: a thread creates tasks and waits for them, again and again. */
#include "test.h"

int main(void)
{
    long rounds = 0, wrong = 0;
#pragma omp parallel
#pragma omp single
    do {
        long parts[8] = {0};
        for (int i = 0; i < 8; i++) {
#pragma omp task shared(parts) firstprivate(i)
            parts[i] = 1 + (work(2000, i) < 0);
        }
#pragma omp taskwait
        for (int i = 0; i < 8; i++)
            wrong += parts[i] != 1;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
