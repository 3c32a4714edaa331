#include <stdlib.h>
double run(int n)
{
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        unsigned short state[3] = {1, 2, 3};
#pragma omp for schedule(dynamic, 8)
        for (int i = 0; i < n; i++) sum += erand48(state);
    }
    return sum;
}
