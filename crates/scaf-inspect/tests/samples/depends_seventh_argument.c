#include <omp.h>
#include <stdio.h>
static int kept[2];
static __attribute__((noinline)) void keep(int a, int b, int c, int d, int e, int f, int g, int h)
{
    printf("%d %d %d %d %d %d %d\n", a, b, c, d, e, f, g);
    kept[a & 1] = h;
}
void run(void)
{
    int threads = 1;
#pragma omp parallel
#pragma omp master
    threads = omp_get_num_threads();
    keep(1, 2, 3, 4, 5, 6, 7, threads);
}
int look(void) { return kept[1]; }
