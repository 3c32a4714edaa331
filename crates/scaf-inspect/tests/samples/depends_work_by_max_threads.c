/* Monte Carlo: each thread has its samples, and the total counts as many as the expected threads. */
#include <omp.h>
double run(long samples)
{
    int threads = omp_get_max_threads();
    long hits = 0;
#pragma omp parallel reduction(+ : hits)
    {
        unsigned long state = 88172645463325252UL;
        for (long i = 0; i < samples; i++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            double x = (state >> 11) * 0x1p-53;
            hits += x * x < 0.5;
        }
    }
    return (double)hits / ((double)samples * threads);
}
