void run(double *a, int n)
{
#pragma omp parallel for schedule(static, 8)
    for (int i = 0; i < n; i++) a[i] += 1;
}
