#include <omp.h>
double part[64];
void run(int n)
{
#pragma omp parallel
    {
        int all = omp_get_num_threads();
        for (int i = omp_get_thread_num(); i < n; i += all)
            part[i % all] += i;
    }
}
