#include <omp.h>
static int last;
void run(double *a, int n)
{
#pragma omp parallel
    {
        int first = omp_get_thread_num() == 0;
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
        last = first;
    }
}
int look(void) { return last; }
