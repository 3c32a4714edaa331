#include <omp.h>
void f(int);
void run(const int *what, double *buf)
{
#pragma omp parallel
    {
        int t = omp_get_thread_num();
        switch (*what) {
        case 0: f(11); break;
        case 1: f(21); f(3); break;
        case 2: f(31); f(7); break;
        case 3: f(41); break;
        case 4: f(53); f(1); break;
        case 5: buf[t] = 1; break;
        case 6: f(61); break;
        }
    }
}
