#include <omp.h>
void f(void);
void g(void);
void run(void)
{
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) f();
        if (omp_get_thread_num() == 1) g();
    }
}
