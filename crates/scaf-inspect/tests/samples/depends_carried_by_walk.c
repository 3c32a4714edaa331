void run(long *a, int n)
{
#pragma omp parallel
    {
        long x[40];
        for (int k = 0; k < 40; k++) x[k] = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            long was = x[0] + x[3];
            long v = a[i];
            for (long *p = x; p != x + 40; p++) { *p = v; v = v * 3 + 1; }
            a[i] = was;
        }
    }
}
