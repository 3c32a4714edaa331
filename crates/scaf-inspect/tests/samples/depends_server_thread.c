#include <omp.h>
int serve(void);
void work(void);
void run(void)
{
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0)
            for (;;) serve();
        work();
    }
}
