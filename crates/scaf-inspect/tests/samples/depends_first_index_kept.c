void run(int *a, int n)
{
    int first = 1, at = 0;
#pragma omp parallel for firstprivate(first, at)
    for (int i = 0; i < n; i++) {
        if (first) { at = i; first = 0; }
        a[i] = at;
        at += 2;
    }
}
