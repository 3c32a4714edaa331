/* build: gcc -O2 -fopenmp */
/* Regions of fixed size whose threads ask the kernel for their numbers, by an instruction of their own: they
 * are the same behind a barrier, and unlike. */
#include "test.h"

#include <omp.h>
#include <sys/syscall.h>

enum { TEAM = 4 };

static long own_number(void)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "0"((long)SYS_gettid) : "rcx", "r11", "memory");
    return result;
}

int main(void)
{
    static long numbers[TEAM];
    long wrong = 0, rounds = 0;
    do {
#pragma omp parallel num_threads(TEAM) reduction(+ : wrong)
        {
            int me = omp_get_thread_num();
            numbers[me] = own_number();
#pragma omp barrier
            for (int i = 0; i < TEAM; i++)
                wrong += i != me && numbers[i] == numbers[me];
            wrong += own_number() != numbers[me];
        }
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
