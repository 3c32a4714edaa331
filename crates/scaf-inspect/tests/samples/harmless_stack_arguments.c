/* Eight arguments, none of them of the team's; the number lies in the frame beside them. */
#include <omp.h>
void work(int, int, int, int, int, int, int, double *), start(void);
void run(double *a, int n)
{
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) start();
#pragma omp for
        for (int i = 0; i < n; i++) work(1, 2, 3, 4, 5, 6, i, a);
    }
}
