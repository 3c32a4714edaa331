#include <stdio.h>

char out[16][32];

void run(void)
{
#pragma omp parallel
    {
        int state = 1;
#pragma omp for schedule(static)
        for (int i = 0; i < 16; i++) {
            state = state * 3 + i;
            snprintf(out[i], 32, "%d %d %d %d", 1, 2, 3, state & 255);
        }
    }
}
