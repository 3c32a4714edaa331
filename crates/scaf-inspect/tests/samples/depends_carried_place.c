/* What passes is laid out from each thread's beginning on. */
void run(double *to, const double *from, int n)
{
    int kept = 0;
#pragma omp parallel for firstprivate(kept)
    for (int i = 0; i < n; i++)
        if (from[i] > 0) to[kept++] = from[i];
}
