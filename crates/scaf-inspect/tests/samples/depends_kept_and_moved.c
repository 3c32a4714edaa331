void run(long *a, int n)
{
#pragma omp parallel
    {
        long x[40] = {0}, *ptrs[4];
        for (int k = 0; k < 4; k++) ptrs[k] = x + 30;
#pragma omp for
        for (int i = 0; i < n; i++) {
            ptrs[i & 3] -= 1;
            *ptrs[i & 3] = a[i];
            a[i] = x[3];
        }
    }
}
