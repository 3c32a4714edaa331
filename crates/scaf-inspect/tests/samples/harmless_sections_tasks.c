static void __attribute__((noinline)) f(int *x) { *x = *x * 3 + 1; }
int run(int n)
{
    int a = n, b = n;
#pragma omp parallel sections
    {
#pragma omp section
        f(&a);
#pragma omp section
        f(&b);
    }
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(i)
        f(&i);
    }
    return a + b;
}
