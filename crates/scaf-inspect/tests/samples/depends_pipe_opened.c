/* Who opens one end of a pipe waits for who opens the other. */
#include <stdio.h>

int opened[2];

void run(void) {
#pragma omp parallel sections
    {
#pragma omp section
        opened[0] = fopen("pipe", "r") != 0;
#pragma omp section
        opened[1] = fopen("pipe", "w") != 0;
    }
}
