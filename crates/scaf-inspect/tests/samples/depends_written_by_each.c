#include <stdio.h>
void run(void)
{
#pragma omp parallel
    puts("here");
}
