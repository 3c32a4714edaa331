/* Nested waits, two calls away from the region. */
int flags[64];
static double rows[64][64];

static __attribute__((noinline)) void meet(const int *a, const int *b)
{
    while (*(const volatile int *)a == 0) {
        while (*(const volatile int *)b != 0)
            __builtin_ia32_mfence();
        __builtin_ia32_pause();
    }
}

static __attribute__((noinline)) void row(int i)
{
    meet(&flags[i], &flags[i + 1]);
    for (int j = 0; j < 64; j++)
        rows[i][j]++;
}

void deep(void)
{
#pragma omp parallel for
    for (int i = 0; i < 63; i++)
        row(i);
}
