#include <semaphore.h>
sem_t posted;
int value;
void run(void)
{
#pragma omp parallel
    {
#pragma omp single nowait
        sem_wait(&posted);
#pragma omp single nowait
        {
            value = 42;
            sem_post(&posted);
        }
    }
}
