void run(double *a, int n)
{
#pragma omp parallel for schedule(dynamic, 16)
    for (int i = 0; i < n; i++) a[i] += 1;
#pragma omp parallel for schedule(guided)
    for (int i = 0; i < n; i++) a[i] += 2;
}
