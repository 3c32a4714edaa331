#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int run(void)
{
    int threads = 1;
    char text[20];
#pragma omp parallel
#pragma omp master
    threads = omp_get_num_threads();
    sprintf(text, "%d", threads);
    return atoi(text);
}
