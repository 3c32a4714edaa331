void run(double *a, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = a[i] * 2 + 1;
}
