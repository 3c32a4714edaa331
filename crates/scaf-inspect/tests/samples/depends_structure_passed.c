#include <omp.h>
struct job {
    long *part, round;
    int who;
};
void work(struct job);
void run(long *part, long round)
{
#pragma omp parallel
    {
        struct job job = {part, round, omp_get_thread_num()};
        work(job);
    }
}
