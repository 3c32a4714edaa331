void run(int *a, const int *c, int n)
{
    int last = -1;
#pragma omp parallel for firstprivate(last)
    for (int i = 0; i < n; i++) {
        a[i] = last;
        if (c[i] % 3 == 0) continue;
        last = i;
    }
}
