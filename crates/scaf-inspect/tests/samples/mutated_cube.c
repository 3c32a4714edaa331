// Three indexes in one.
#define SHAPE [12][12][12]
#include "mutated.h"

static __attribute__((noinline)) void run(void)
{
#pragma omp parallel for collapse(3)
    for (int i = 0; i < 11; i++)
        for (int j = 0; j < 11; j++)
            for (int k = 0; k < 11; k++)
                a[i][j][k] += i * 3 + j + k;
}
