#include <stdlib.h>

/* The loop is in a function of its own, the state that goes on in the caller's frame. */
int out[512];

static __attribute__((noinline)) void fill(unsigned *state, int n)
{
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
        out[i] = rand_r(state);
}

void run(int n)
{
#pragma omp parallel
    {
        unsigned state = 5;
        fill(&state, n);
    }
}
