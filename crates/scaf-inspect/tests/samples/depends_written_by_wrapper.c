#include <stdio.h>

/* What a thread's iterations have come to goes on the stack, to a function that passes it on as it is. */
char texts[512][24];
int a[512];

static __attribute__((noinline)) int write_to(char *to, unsigned long size, const char *form, int x, int y,
                                              int z, long carried)
{
    return snprintf(to, size, form, x, y, z, carried);
}

void run(int n)
{
#pragma omp parallel
    {
        long carried = 0;
#pragma omp for schedule(static)
        for (int i = 0; i < n; i++) {
            write_to(texts[i], 24, "%d%d%d%ld", 1, 1, 1, carried);
            carried += a[i];
        }
    }
}
