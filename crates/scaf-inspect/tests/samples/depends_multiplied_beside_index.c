void run(double *a, const double *b, const double *c, int n)
{
    int own = 0;
#pragma omp parallel for firstprivate(own)
    for (int i = 0; i < n; i++) { a[i] = 0.5 * b[own] * c[i]; own += 3; }
}
