#include <math.h>
double run(const double *a, int n)
{
    double sum = 0;
    int last = 0;
#pragma omp parallel for reduction(+ : sum) lastprivate(last)
    for (int i = 0; i < n; i++) {
        sum += sqrt(a[i]);
        last = i;
    }
    return sum + last;
}
