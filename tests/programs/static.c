/* build: gcc -O2 -fopenmp -static */
/* Statically linked: nothing can be preloaded into it. */
#include "test.h"

int main(void)
{
    long team = 0;
#pragma omp parallel reduction(+ : team)
    team = 1;
    say("team", team);
    return 5;
}
