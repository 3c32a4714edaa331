#include <omp.h>
#include <stdio.h>
#include <string.h>
static int threads = 1;
void run(void)
{
#pragma omp parallel
#pragma omp master
    threads = omp_get_num_threads();
    printf("%d threads\n", threads);
}
void use(char *a, int n) { memset(a, 0, n / threads); }
