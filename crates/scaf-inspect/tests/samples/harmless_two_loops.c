static void __attribute__((noinline)) look(double *x, int i) { *x = *x * i + 1; }
void run(double *a, double *b, int n)
{
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] += 1;
#pragma omp for
        for (int i = 1; i < n - 1; i++) look(&b[i], i);
    }
}
