void run(long *out, double *sums, long *a, double *w, int n)
{
    long counts[8] = {0};
#pragma omp parallel for reduction(+ : counts)
    for (int i = 0; i < n; i++) counts[a[i] & 7] += i;
    for (int i = 0; i < 8; i++) out[i] = counts[i];
#pragma omp parallel
    {
        double own[64] = {0};
#pragma omp for
        for (int i = 0; i < n; i++) own[a[i] & 63] += w[i];
#pragma omp critical
        for (int i = 0; i < 64; i++) sums[i] += own[i];
    }
}
