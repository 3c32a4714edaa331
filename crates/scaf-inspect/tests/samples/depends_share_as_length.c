#include <omp.h>
#include <string.h>
char mark[1200];
void run(void)
{
#pragma omp parallel
#pragma omp single
    memset(mark, 1, sizeof mark / omp_get_num_threads());
}
