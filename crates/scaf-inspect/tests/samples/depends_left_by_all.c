/* Shared out by hand, and every thread leaves its loop after one round, if any does: how many elements are
 * done goes by the team's size. */
#include <omp.h>
void run(long *a, int n, int once)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num(), all = omp_get_num_threads();
        for (int at = me; at < n; at += all) {
            a[at] += 1;
            if (once)
                break;
        }
    }
}
