void run(double *to, const double *from, int n)
{
    double before = 0;
#pragma omp parallel for firstprivate(before) schedule(static)
    for (int i = 0; i < n; i++) {
        to[i] = from[i] - before;
        before = from[i];
    }
}
