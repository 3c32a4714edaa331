#include <stdlib.h>

/* Each thread's own window slides over its iterations, in a function that all of them call. */
double in[512], out[512];

static __attribute__((noinline)) void smooth(double *window, int n)
{
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) {
        for (int k = 7; k > 0; k--)
            window[k] = window[k - 1];
        window[0] = in[i];
        out[i] = window[0] + window[3] + window[7];
    }
}

void run(int n)
{
#pragma omp parallel
    {
        double *window = calloc(8, sizeof *window);
        smooth(window, n);
        free(window);
    }
}
