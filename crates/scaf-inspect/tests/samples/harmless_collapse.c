void run(double *a, int n, int m)
{
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) a[i * m + j] += i + j;
}
