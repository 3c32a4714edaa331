double run(const double *a, int n)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += a[i] * a[i];
    return sum;
}
