/* build: gcc -O2 -fopenmp */
/* A program whose runtime binds threads by the user's settings. What it asks about places is what it would be
 * told alone. With an argument, its teams have to keep their size. */
#include "test.h"

#include <omp.h>

int main(int argc, char **argv)
{
    (void)argv;
    long rounds = 0, wrong = 0, more = SIZES, places = 0, bind = omp_get_proc_bind();
    int fixed = argc > 1;
    do {
        long sum = 0;
        if (fixed) {
            long of[2] = {0, 0};
#pragma omp parallel num_threads(2)
            {
                int me = omp_get_thread_num();
                of[me] += work(500, me) * 0 + omp_get_num_threads();
            }
            wrong += of[0] != 2 || of[1] != 2;
        } else {
#pragma omp parallel for reduction(+ : sum)
            for (int i = 0; i < 64; i++)
                sum += work(500, i) * 0 + i;
            wrong += sum != 63 * 32;
        }
        if (!rounds)
            places = omp_get_num_places();
        wrong += omp_get_proc_bind() != bind || omp_get_num_places() != places;
        rounds++;
    } while (going() || more-- > 0);
    say("rounds", rounds);
    say("wrong", wrong);
    say("places", places);
    say("bind", bind);
    return wrong != 0;
}
