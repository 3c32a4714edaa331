/* build: gcc -O2 -fopenmp */
/* Regions for an interpreter. */

volatile double x = 1;

void rounds(int count)
{
    for (int round = 0; round < count; round++) {
#pragma omp parallel for
        for (int i = 0; i < 20000; i++)
            x = x * 1.0000001;
    }
}
