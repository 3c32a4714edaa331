long run(const int *a, int n)
{
    long sum = 0;
#pragma omp parallel
    {
        long own = 100;
#pragma omp for
        for (int i = 0; i < n; i++) own += a[i];
#pragma omp atomic
        sum += own;
    }
    return sum;
}
