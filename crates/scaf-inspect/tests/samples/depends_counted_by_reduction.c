int run(double *a, int n)
{
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    {
        threads = 1;
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
    }
    return threads;
}
