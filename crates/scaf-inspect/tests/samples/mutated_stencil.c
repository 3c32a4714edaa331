// The neighbours' rows and columns are kept beside the indexes, or computed of them once more.
#define SHAPE [100][200]
#include "mutated.h"

static __attribute__((noinline)) void run(void)
{
#pragma omp parallel for collapse(2)
    for (int i = 1; i < 99; i++)
        for (int j = 1; j < 199; j++)
            a[i][j] = b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1];
}
