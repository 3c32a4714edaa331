#include <string.h>

void run(long *a, int n)
{
#pragma omp parallel
    {
        long own[40];
#pragma omp for schedule(dynamic)
        for (int i = 0; i < n; i++) {
            memmove(own, own + 1, sizeof own - sizeof *own);
            own[39] = a[i];
            a[i] = own[a[i] & 31];
        }
    }
}
