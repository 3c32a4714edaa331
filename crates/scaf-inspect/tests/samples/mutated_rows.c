// Rows are kept beside their number.
#define SHAPE [40][34]
#include "mutated.h"

static __attribute__((noinline)) void run(void)
{
#pragma omp parallel for collapse(2)
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 32; j++)
            a[i][j] += b[i][j];
}
