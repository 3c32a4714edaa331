#include <stdio.h>
#include <stdlib.h>

void run(long *cells, long *a)
{
#pragma omp parallel
    {
        char text[24];
#pragma omp for
        for (int i = 0; i < 256; i++) {
            if (i == 0 || a[i] & 1)
                snprintf(text, sizeof text, "%ld.5", a[i]);
            cells[i] += (long)(2 * atof(text));
        }
    }
}
