/* build: gcc -O2 -fopenmp */
/* A library with regions; its siblings differ in what they compute and in how long their code is. */
#include "test.h"

long compute(long seed);

long compute(long seed)
{
    long sum = 0;
#pragma omp parallel
    {
#pragma omp for reduction(+ : sum) schedule(static)
        for (long i = 0; i < 100; i++)
            sum += (seed + i) * 3;
#pragma omp barrier
#pragma omp single
        sum += 0 * work(10, seed);
    }
    return sum;
}
