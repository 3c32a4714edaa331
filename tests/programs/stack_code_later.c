/* build: gcc -O1 -fopenmp -ldl */
/* Regions of fixed size. After the signal SIGUSR2 a library is loaded, the first argument, which puts code on
 * the stack of each thread. Its executable asks for nothing of the kind. Says `begun` once it was called. */
#include "test.h"

#include <dlfcn.h>
#include <omp.h>
#include <signal.h>

enum { TEAM = 4 };

static volatile sig_atomic_t wanted;

static void want(int signal)
{
    (void)signal;
    wanted = 1;
}

static long plain(long own)
{
    return 45 * own + 10;
}

int main(int count, char **words)
{
    long (*compute)(long) = plain;
    long wrong = 0, rounds = 0;
    signal(SIGUSR2, want);
    do {
        if (wanted && compute == plain && count > 1) {
            void *library = dlopen(words[1], RTLD_NOW);
            void *found = library ? dlsym(library, "compute") : NULL;
            if (!found) {
                fprintf(stderr, "%s\n", dlerror());
                return 3;
            }
            memcpy(&compute, &found, sizeof compute);
        }
#pragma omp parallel num_threads(TEAM) reduction(+ : wrong)
        {
            long own = omp_get_thread_num() + 1;
            wrong += compute(own) != 45 * own + 10;
#pragma omp barrier
            wrong += compute(own) != 45 * own + 10;
        }
        if (wanted == 1 && compute != plain) {
            wanted = 2;
            puts("begun");
            fflush(stdout);
        }
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
