#include <omp.h>
#include <pthread.h>
void run(int rounds)
{
    pthread_barrier_t all;
    pthread_barrier_init(&all, 0, omp_get_max_threads());
    for (int i = 0; i < rounds; i++) {
#pragma omp parallel
        pthread_barrier_wait(&all);
    }
}
