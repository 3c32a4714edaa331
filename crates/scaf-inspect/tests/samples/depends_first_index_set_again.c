void run(int *a, const int *b, int n)
{
#pragma omp parallel
    {
        int first = 1, at = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            if (first) { at = i; first = 0; }
            a[i] = at;
            if (b[i] > 3) at = i;
        }
    }
}
