/* build: gcc -O2 -fopenmp */
/* Fixes the size of its teams by a call and counts on nothing else: but for the call it could be resized. */
#include "test.h"
#include <omp.h>

int main(int count, char **words)
{
    long rounds = 0, smallest = 1000;
    if (count > 1 && !strcmp(words[1], "dynamic"))
        omp_set_dynamic(0);
    else
        omp_set_num_threads(3);
    do {
        long team = 0;
#pragma omp parallel reduction(+ : team)
        team = 1;
        smallest = team < smallest ? team : smallest;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("smallest", smallest);
    return 0;
}
