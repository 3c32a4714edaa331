void run(double *a, unsigned long n)
{
#pragma omp parallel for schedule(static, 4)
    for (unsigned long i = 0; i < n; i++) a[i] += 1;
}
