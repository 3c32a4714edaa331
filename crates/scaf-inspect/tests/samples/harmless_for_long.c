void run(double *a, long n)
{
#pragma omp parallel for schedule(static)
    for (long i = 3; i <= n; i += 2) a[i] += i;
}
