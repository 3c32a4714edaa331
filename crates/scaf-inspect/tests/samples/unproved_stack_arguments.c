/* Eight arguments, none of them of the team's; the number lies in the frame beside them. */
#include <omp.h>
static long started;
static void __attribute__((noinline)) start(void) { started++; }
static void __attribute__((noipa)) work(int a, int b, int c, int d, int e, int f, int i, double *to)
{
    to[i] += a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6;
}
void run(double *a, int n)
{
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) start();
#pragma omp for
        for (int i = 0; i < n; i++) work(1, 2, 3, 4, 5, 6, i, a);
    }
}
