#include <omp.h>
void look(int *);
void work(void);
void run(void)
{
#pragma omp parallel
    {
        int second = omp_get_thread_num();
        second--;
        if (second == 0) work();
    }
}
