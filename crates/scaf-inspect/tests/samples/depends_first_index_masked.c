void run(int *a, int n)
{
#pragma omp parallel
    {
        int first = 1, at = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            if (first) { at = i & 15; first = 0; }
            a[i] += at;
            if (++at == 20) at = 0;
        }
    }
}
