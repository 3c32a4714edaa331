#include <math.h>

double out[16];

void run(void)
{
#pragma omp parallel
    {
        double s = 1;
#pragma omp for schedule(static)
        for (int i = 0; i < 16; i++) {
            s = s * 1.25 + i;
            out[i] = lgamma(s);
        }
    }
}
