#include <omp.h>
void f(int *);
void run(void)
{
#pragma omp parallel
    {
        int t = omp_get_thread_num();
        f(&t);
    }
}
