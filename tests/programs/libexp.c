/* build: gcc -O2 -fopenmp */
/* An `exp` in the place of the C library's: for negative numbers, the team meets at a barrier in it. */
double exp(double x)
{
    if (x < 0) {
#pragma omp barrier
    }
    return 1;
}
