/* build: gcc -O2 -fopenmp */
/* A handler on an alternate stack of the master's yields the processor; the stack is the master's own in each
 * region. */
#define _GNU_SOURCE
#include "test.h"
#include <sched.h>
#include <signal.h>

enum { SIZE = 1 << 16 };
static char stack[SIZE];
static volatile long handled, elsewhere;

static void handle(int signal)
{
    (void)signal;
    char here;
    elsewhere += &here < stack || &here >= stack + SIZE;
    sched_yield();
    work(50, handled);
    sched_yield();
    handled++;
}

int main(void)
{
    stack_t given = {.ss_sp = stack, .ss_size = SIZE}, found;
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK | SA_RESTART};
    if (sigaltstack(&given, NULL) || sigaction(SIGUSR1, &action, NULL))
        return 3;
    long wrong = 0, rounds = 0, raised = 0;
    do {
        long sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
        {
            sum += work(200, 1) * 0 + 1;
#pragma omp barrier
#pragma omp master
            raised++, raise(SIGUSR1);
#pragma omp barrier
            sum += 1;
        }
        wrong += sum != 6 || sigaltstack(NULL, &found) || found.ss_sp != stack || found.ss_flags;
        wrong += raised != handled;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong + elsewhere);
    return wrong + elsewhere != 0;
}
