void run(long *a, int n)
{
#pragma omp parallel
    {
        long x[40];
        for (int k = 0; k < 40; k++) x[k] = 0;
#pragma omp for schedule(dynamic)
        for (int i = 0; i < n; i++) {
            long was = x[0] + x[3];
            long v = a[i];
            long *p = x + 40;
            do { *--p = v; v = v * 3 + 1; } while (p != x);
            a[i] = was;
        }
    }
}
