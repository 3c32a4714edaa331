void run(double *restrict a, const double *restrict b, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = b[i];
}
