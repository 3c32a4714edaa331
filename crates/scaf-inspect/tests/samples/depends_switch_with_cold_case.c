#include <omp.h>
#include <stdlib.h>
void f(int);
void run(const int *op, int *part)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        switch (*op) {
        case 0: f(11); break;
        case 1: f(21); f(3); break;
        case 2: f(31); f(7); break;
        case 4: f(53); f(1); break; /* no 3 */
        case 5: part[me]++; break;
        default: abort();
        }
    }
}
