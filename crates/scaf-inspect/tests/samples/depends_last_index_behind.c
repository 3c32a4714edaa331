void run(double *a, double *b, int n)
{
#pragma omp parallel
    {
        int last;
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            a[i] += 1;
            last = i;
        }
        b[last] = 1;
    }
}
