#include <pthread.h>
pthread_t first;
void run(int *a, int n)
{
#pragma omp parallel
#pragma omp single
    first = pthread_self();
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = pthread_equal(first, pthread_self());
}
