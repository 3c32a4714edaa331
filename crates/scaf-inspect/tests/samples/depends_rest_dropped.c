/* A division by hand that forgets the rest: how many elements are left out depends on the team. */
#include <omp.h>

void set(int *a, int n)
{
#pragma omp parallel
    {
        int share = n / omp_get_num_threads();
        int from = omp_get_thread_num() * share;
        int to = from + share;
        for (int i = from; i < to; i++)
            a[i] = 1;
    }
}
