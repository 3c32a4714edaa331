void run(double *a, double *b, int n)
{
    double before = a[0];
#pragma omp parallel for firstprivate(before)
    for (int i = 0; i < n; i++) {
        double now = a[i];
        b[i] = before + now;
        before = now;
    }
}
