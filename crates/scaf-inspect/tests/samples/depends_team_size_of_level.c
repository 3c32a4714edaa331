#include <omp.h>
int run(void)
{
    int n = 0;
#pragma omp parallel
#pragma omp master
    n = omp_get_team_size(1);
    return n;
}
