#include <stdio.h>
#include <string.h>

void run(char (*names)[16], int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "%d", i * 17);
        names[i][strlen(names[i])] = '!';
    }
}
