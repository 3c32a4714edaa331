void run(float *a, unsigned n)
{
#pragma omp parallel for
    for (unsigned i = 0; i < n; i++) a[i] = 0;
}
