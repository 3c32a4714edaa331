/* build: by the test, against a copy of the runtime */
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
            sum += (seed + i) * 5;
        /* By all of them, if they are in no team of the runtime that is asked. */
#pragma omp single
        sum += 7;
    }
    return sum;
}
