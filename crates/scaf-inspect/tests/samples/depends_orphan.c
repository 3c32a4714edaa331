#include <omp.h>
void orphan(double *buf)
{
    buf[omp_get_thread_num()] += 1;
}
void run(double *buf)
{
#pragma omp parallel
    orphan(buf);
}
