#include <string.h>

void run(long *a, int n)
{
    long kept = 1L << 32;
#pragma omp parallel for firstprivate(kept)
    for (int i = 0; i < n; i++) {
        memcpy(&kept, &i, sizeof i);
        a[i] = kept;
        kept = (kept + (1L << 33)) & ~0xffL;
    }
}
