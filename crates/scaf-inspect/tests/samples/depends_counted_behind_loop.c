/* Those that had iterations count themselves. */
int run(double *a, int n)
{
    int threads = 0;
#pragma omp parallel
    {
        int any = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] += 1, any = 1;
        if (any) {
#pragma omp atomic
            threads++;
        }
    }
    return threads;
}
