void run(double *a, int n, double (*f)(double))
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = f(a[i]);
}
