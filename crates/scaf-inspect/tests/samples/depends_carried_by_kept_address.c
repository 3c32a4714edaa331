void run(long *a, int n)
{
#pragma omp parallel
    {
        long x = 0, y = 5;
        long *ptrs[4];
        for (int k = 0; k < 4; k++) ptrs[k] = k == n ? &y : &x;
#pragma omp for
        for (int i = 0; i < n; i++) {
            long was = x + y;
            *ptrs[i & 3] = a[i];
            a[i] = was;
        }
    }
}
