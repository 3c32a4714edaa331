static void __attribute__((noinline)) look(double *x, int i) { x[i] = x[i] * i + 1; }
void run(double *a, int n)
{
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < n; i++) look(a, i);
}
