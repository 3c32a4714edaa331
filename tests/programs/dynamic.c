/* build: gcc -O2 -fopenmp */
/* A program that permits smaller teams (OMP_DYNAMIC, or omp_set_dynamic with the argument "call") and would
 * keep its teams otherwise: one by a clause, one by its code, which keeps the size. In each thread and
 * between regions it asks whether it still permits them. SIGUSR1 has it take that back. */
#include "test.h"
#include <omp.h>
#include <signal.h>

#define FULL 3
static volatile sig_atomic_t signalled;
static long wrong, kept_size;
static int permits;

static void hear(int signal)
{
    (void)signal;
    signalled = 1;
}

static long by_clause(void)
{
    long team = 0, lies = 0;
#pragma omp parallel num_threads(FULL) reduction(+ : team, lies)
    {
        team = 1;
        lies = omp_get_dynamic() != permits;
    }
    wrong += lies;
    return team;
}

static long by_code(void)
{
    long team = 0, lies = 0;
#pragma omp parallel reduction(+ : team, lies)
    {
        team = 1;
        if (omp_get_thread_num() == 0)
            kept_size = omp_get_num_threads();
        lies = omp_get_dynamic() != permits;
#pragma omp barrier
        lies += omp_get_dynamic() != permits;
    }
    wrong += lies;
    return team;
}

static long in_tasks(void)
{
    long lies = 0;
#pragma omp parallel num_threads(FULL)
#pragma omp single
    for (int i = 0; i < 8; i++)
#pragma omp task shared(lies)
        if (omp_get_dynamic() != permits)
#pragma omp atomic
            lies++;
    wrong += lies;
    return 0;
}

int main(int count, char **words)
{
    long rounds = 0, clause = 0, code = 0, largest = 0;
    signal(SIGUSR1, hear);
    if (count > 1 && !strcmp(words[1], "call"))
        omp_set_dynamic(1);
    permits = omp_get_dynamic();
    say("permits", permits);
    do {
        clause = by_clause();
        code = by_code();
        in_tasks();
        wrong += omp_get_dynamic() != permits;
        largest = clause > largest ? clause : largest;
        if (signalled && permits) {
            omp_set_dynamic(permits = 0);
            say("took_back", rounds);
        }
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("clause", clause);
    say("code", code);
    say("kept", kept_size);
    say("wrong", wrong);
    return wrong != 0;
}
