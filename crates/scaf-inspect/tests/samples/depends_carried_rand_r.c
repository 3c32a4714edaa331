#include <stdlib.h>
void run(int *hits, int n)
{
    unsigned seed = 42;
#pragma omp parallel for firstprivate(seed) schedule(static)
    for (int i = 0; i < n; i++)
        hits[i] = rand_r(&seed);
}
