/* Shared out by hand, as `schedule(static, 1)` would be, but for the first round: who is in it is the index
 * that another team size gives to somebody else. */
#include <omp.h>
void run(long *a, int n)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num(), all = omp_get_num_threads();
        int at = me + 7, round = 0;
        while (at < n) {
            a[at] += 1;
            round++;
            at = me + all * round;
        }
    }
}
