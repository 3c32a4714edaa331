#include <omp.h>
void inner(double *a)
{
    if (omp_in_parallel()) a[0] = 1;
}
void run(double *a)
{
#pragma omp parallel for
    for (int i = 0; i < 9; i++) inner(a);
}
