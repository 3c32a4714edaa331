#include <omp.h>
void look(double *), work(int);
void run(double *a, int n)
{
#pragma omp parallel
    {
        int others;
        if (omp_get_thread_num() == 0) {
            look(a);
            others = 0;
        } else {
            others = 1;
        }
#pragma omp barrier
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += 1;
        if (others) work(n);
    }
}
