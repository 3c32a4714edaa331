void run(long *a, int n)
{
#pragma omp parallel
    {
        long x = 0, y = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            long was = x * 2 + y;
            long v = a[i];
            long *p;
            if (v & 1) { p = &x; a[i + n] = 4; } else { p = &y;  a[i + 2 * n] = 3; }
            *p = v;
            a[i] = was;
        }
    }
}
