/* build: gcc -O2 -fopenmp */
/* Tasks that end when somebody says so. */
#include "test.h"

#include <omp.h>

int main(void)
{
    long rounds = 0, wrong = 0;
    do {
        long sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
        {
            omp_event_handle_t event;
#pragma omp task detach(event) shared(sum)
#pragma omp atomic
            sum++;
#pragma omp task firstprivate(event) shared(sum)
            {
#pragma omp atomic
                sum++;
                omp_fulfill_event(event);
            }
#pragma omp taskwait
            wrong += sum != 2;
        }
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
