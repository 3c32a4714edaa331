/* build: gcc -O2 -fopenmp */
/* A timer's handler says which thread it is, and changes errno: the kernel delivers such a signal to the
 * first thread, so no other one finds its errno changed. */
#include "test.h"
#include <errno.h>
#include <omp.h>
#include <signal.h>
#include <sys/time.h>

static volatile long others, spoiled;
static long done[4];

static void ring(int signal)
{
    (void)signal;
    errno = 77;
    if (omp_get_thread_num() != 0)
        others++;
}

int main(void)
{
    const struct itimerval once = {{0, 0}, {0, 100}};
    long rounds = 0;
    signal(SIGALRM, ring);
    do {
        /* Not before `going` has set a time limit by the same timer. Once a round: the kernel delivers a
         * signal that comes while the handler runs to another thread. */
        if (rounds > 0)
            setitimer(ITIMER_REAL, &once, NULL);
#pragma omp parallel num_threads(4)
        {
            int me = omp_get_thread_num();
            errno = 0;
            for (int i = 0; i < 5; i++) {
                done[me] += work(2000, i);
#pragma omp barrier
            }
            if (me != 0 && errno == 77)
                spoiled++;
        }
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", others + spoiled);
    return others + spoiled != 0;
}
