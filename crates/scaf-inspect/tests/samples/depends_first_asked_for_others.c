#include <omp.h>
static __attribute__((noinline)) int is_first(void)
{
    if (omp_get_thread_num() != 0) return 0;
    return 1;
}
void look(void), work(void);
void run(void)
{
#pragma omp parallel
    {
        if (is_first()) look();
        else work();
    }
}
