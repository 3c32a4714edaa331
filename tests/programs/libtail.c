/* build: gcc -O2 -fopenmp */
/* Calls that gcc turns into jumps, so that the return address is in a module that knows no runtime. */
#include <omp.h>

int team_size(void);
void set_team_size(int threads);
int count_team(void);

int team_size(void)
{
    return omp_get_max_threads();
}

void set_team_size(int threads)
{
    omp_set_num_threads(threads);
}

int count_team(void)
{
    int team = 0;
#pragma omp parallel reduction(+ : team)
    team = 1;
    return team;
}
