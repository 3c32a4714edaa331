long all, w[16];

__attribute__((noinline)) static void sum(long a, long b, long c, long d, long e, long f, long s)
{
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 16; i++) s += w[i] + a + b + c + d + e + f;
#pragma omp critical
    all += s;
}

void run(void)
{
#pragma omp parallel
    sum(1, 2, 3, 4, 5, 6, 1000);
}
