#include <omp.h>
#include <stdio.h>
static __attribute__((noinline)) void report(const char *name, int a, int b, int c, int d, int e, int threads,
                                             double rate, const char *kind)
{
    printf("%s %d %d %d %d %d\n", name, a, b, c, d, e);
    printf("threads %d\n", threads);
    printf("rate for each %g\n", rate / (double)threads);
    puts(kind);
}
double run(double *a, int n, double rate)
{
    int threads = 1;
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += a[i];
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += sum;
#pragma omp master
        threads = omp_get_num_threads();
    }
    report("sum", n, n + 1, n + 2, n + 3, n + 4, threads, rate, "floating point");
    return sum;
}
void warn(double *a, int n)
{
    int threads = 1, most = omp_get_max_threads();
#pragma omp parallel
    {
#pragma omp single
        threads = omp_get_num_threads();
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
    }
    printf("%d of %d threads\n", threads, most);
    if (threads != most) printf("Warning: not all threads\n");
    printf("done\n");
}
