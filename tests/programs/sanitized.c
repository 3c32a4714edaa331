/* Included by the programs that are built for a sanitizer each. Regions, and memory that comes and goes; what
 * the argument says is wrong with them is for the sanitizer to find. */
#include "test.h"

static long wrong;

static void region(void)
{
    long sum = 0, *some = malloc(64 * sizeof *some);
#pragma omp parallel for reduction(+ : sum)
    for (long i = 0; i < 64; i++)
        some[i] = i, sum += some[i] + 0 * work(200, i);
    wrong += sum != 2016;
    free(some);
}

int main(int count, char **words)
{
    volatile int large = 0x7fffffff;
    char *block = malloc(8);
    for (int i = 0; i < 1000; i++)
        region();
    if (count > 1 && !strcmp(words[1], "overflow"))
        large += count;
    if (count > 1 && !strcmp(words[1], "overrun"))
        ((volatile char *)block)[count + 6] = 1;
    if (count > 1 && !strcmp(words[1], "lost"))
        block = NULL;
    free(block);
    region();
    say("wrong", wrong);
    return wrong != 0;
}
