void run(long *out, long *a, int n)
{
#pragma omp parallel
    {
        long own[8] = {0};
#pragma omp for
        for (int i = 0; i < n; i++) {
            own[a[i] & 7] = own[(a[i] + 1) & 7] + i;
        }
#pragma omp critical
        for (int k = 0; k < 8; k++) out[k] += own[k];
    }
}
