/* build: gcc -O2 -fopenmp -pthread */
/* Regions of fixed size that do nothing but compute. Outside of them the program names its thread, asks for
 * its number, and sets its priority. */
#define _GNU_SOURCE
#include "test.h"

#include <omp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { TEAM = 4 };

int main(void)
{
    long wrong = 0, rounds = 0;
    prctl(PR_SET_NAME, "first");
    wrong += syscall(SYS_gettid) != getpid();
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0));
    do {
        long sum = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : sum)
        {
            sum += omp_get_thread_num();
#pragma omp barrier
            sum += work(20, 1) >= 0;
        }
        wrong += sum != TEAM * (TEAM - 1) / 2 + TEAM;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
