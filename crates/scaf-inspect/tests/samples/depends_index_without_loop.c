#include <omp.h>
int slot[64];
void run(int second)
{
#pragma omp parallel
    {
        int at = omp_get_thread_num();
        if (second)
            at += omp_get_num_threads();
        if (at < 64)
            slot[at] = 1;
    }
}
