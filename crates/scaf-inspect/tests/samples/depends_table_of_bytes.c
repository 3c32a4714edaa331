void run(long *out, long *a, int n)
{
#pragma omp parallel
    {
        unsigned char own[256] = {0};
#pragma omp for
        for (int i = 0; i < n; i++) {
            own[a[i] & 255]++;
        }
#pragma omp critical
        for (int k = 0; k < 256; k++) out[k] += own[k];
    }
}
