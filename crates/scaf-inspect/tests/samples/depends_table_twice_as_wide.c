#include <string.h>

int all[64], in[16], w[16];

void run(void)
{
#pragma omp parallel
    {
        int t[64];
        memset(t, 0, sizeof t);
#pragma omp for schedule(static) nowait
        for (int i = 0; i < 16; i++) {
            long k = in[i];
            t[2 * k] = t[k] + w[i];
        }
#pragma omp critical
        for (int k = 0; k < 64; k++) all[k] += t[k];
    }
}
