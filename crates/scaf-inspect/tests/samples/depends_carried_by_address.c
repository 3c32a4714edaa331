#include <stdlib.h>
long run(int n)
{
    long hits = 0;
    unsigned seed = 17;
#pragma omp parallel for firstprivate(seed) reduction(+ : hits)
    for (int i = 0; i < n; i++) hits += rand_r(&seed) < RAND_MAX / 2;
    return hits;
}
