/* build: gcc -O2 -fopenmp */
/* Calls a function of the caller's in each thread of a team, with a barrier between two calls. */
#include <omp.h>

enum { TEAM = 3 };

long rounds_of(long (*function)(long, long), long rounds)
{
    long sum = 0;
    for (long round = 0; round < rounds; round++) {
#pragma omp parallel num_threads(TEAM) reduction(+ : sum)
        {
            sum += function(omp_get_thread_num(), round);
#pragma omp barrier
            sum += function(omp_get_thread_num() + TEAM, round);
        }
    }
    return sum;
}
