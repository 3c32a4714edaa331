void run(int *a, int n)
{
    int own = 0;
#pragma omp parallel for firstprivate(own)
    for (int i = 0; i < n; i++) a[i + own++] = 1;
}
