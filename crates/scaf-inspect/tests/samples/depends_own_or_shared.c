void run(long *shared, long *a, int n, int m)
{
#pragma omp parallel
    {
        long small[16] = {0};
        long *own = m > 16 ? shared : small;
#pragma omp critical
        for (int i = 0; i < m; i++) own[i] += i;
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
    }
}
