#include <omp.h>
#include <stdio.h>
static int table[4];
void run(void)
{
#pragma omp parallel
#pragma omp master
    table[2] = omp_get_num_threads();
    printf("%d threads\n", table[2]);
}
int look(int i) { return table[i]; }
