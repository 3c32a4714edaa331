/* build: gcc -O2 -fopenmp */
/* Asks whether it is in a region that several threads run: that must not depend on how many there are now. */
#include "test.h"
#include <omp.h>

int main(void)
{
    int limited = omp_get_thread_limit() == 1 || omp_get_max_active_levels() == 0;
    int several = omp_get_max_threads() > 1 && !limited;
    long wrong = 0, last = 0;
    do {
        long odd = omp_in_parallel(), team = 0;
#pragma omp parallel reduction(+ : odd, team)
        {
            team = 1;
            odd += omp_in_parallel() != several;
#pragma omp parallel reduction(+ : odd)
            odd += omp_in_parallel() != several;
#pragma omp parallel if (0) reduction(+ : odd)
            odd += omp_in_parallel() != several;
        }
#pragma omp parallel for reduction(+ : odd)
        for (int i = 0; i < 8; i++)
            odd += omp_in_parallel() != several;
        odd += omp_in_parallel();
#pragma omp parallel if (0) reduction(+ : odd)
        odd += omp_in_parallel();
#pragma omp parallel num_threads(1) reduction(+ : odd)
        odd += omp_in_parallel();
        wrong += odd;
        last = team;
    } while (going());
    say("wrong", wrong);
    say("last", last);
    return 0;
}
