void run(long *out, long *a, int n)
{
#pragma omp parallel
    {
        long own[8] = {0};
#pragma omp for
        for (int i = 0; i < n; i++) {
            own[a[i] & 7] += i;
        }
#pragma omp critical
        for (int k = 0; k < 8; k++) if (own[k]) out[k]++;
    }
}
