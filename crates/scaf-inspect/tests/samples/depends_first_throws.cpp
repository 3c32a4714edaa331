#include <omp.h>
int done;
void run()
{
#pragma omp parallel
    try {
        if (omp_get_thread_num() == 0)
            throw 0;
#pragma omp atomic write
        done = 1;
    } catch (int) {
    }
}
