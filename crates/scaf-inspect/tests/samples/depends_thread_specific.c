#include <pthread.h>
static pthread_key_t key;
void fill(long *sums)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 100; i++) pthread_setspecific(key, sums + i);
}
void add(long *total)
{
#pragma omp parallel
    {
        long *mine = pthread_getspecific(key);
#pragma omp atomic
        *total += *mine;
    }
}
