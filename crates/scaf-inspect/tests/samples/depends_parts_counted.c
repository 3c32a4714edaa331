#include <math.h>

double count;

void run(double c)
{
#pragma omp parallel
    {
        double rest;
#pragma omp critical
        rest = modf(count + 1.5 * c, &count);
        (void)rest;
    }
}
