#include <stdlib.h>

__attribute__((noinline)) static long *make(int n)
{
    long *made = malloc(n * sizeof *made);
    if (!made)
        abort();
    return made;
}

void run(long *a, int n)
{
#pragma omp parallel
    {
        long *own = make(4);
        own[0] = 17;
#pragma omp for
        for (int i = 0; i < n; i++) {
            own[0] = own[0] * 25214903917 + 11;
            a[i] = own[0];
        }
        free(own);
    }
}
