#include <omp.h>
void run(int *owner, int n)
{
#pragma omp parallel
    {
        int all = omp_get_num_threads();
        for (int i = omp_get_thread_num(); i < n; i += all)
            owner[i] = i % all;
    }
}
