// Each iteration calls a function, and its result is stored.
static __attribute__((noinline)) long of_pair(long i, long j)
{
    return i * 31 ^ j * 7;
}

void run(long *a, long n)
{
#pragma omp parallel for collapse(2)
    for (long i = 0; i < n; i++)
        for (long j = 0; j < 48; j++)
            a[i * 48 + j] = of_pair(i, j);
}
