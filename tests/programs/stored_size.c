/* build: gcc -O2 -fopenmp */
/* Divides work by the size that its first team had, which it has stored: with smaller teams later, parts of
 * it are left out. By its argument it
 * - "hangs": its threads wait for as many as there were in the first team;
 * - "crashes" where one is missing;
 * - "file" writes its result into the file of the second argument, and nothing else;
 * - "clause": all its teams have a fixed size, so that none is resized. */
#include "test.h"
#include <omp.h>

static int stored;
static long parts[64], came;

static void add(int me)
{
    for (long i = me; i < 1000; i += stored)
        parts[me] += i;
}

static long added(int fixed)
{
    long sum = 0;
    memset(parts, 0, sizeof parts);
    if (fixed) {
#pragma omp parallel num_threads(2)
        add(omp_get_thread_num());
    } else {
#pragma omp parallel
        add(omp_get_thread_num());
    }
    for (int i = 0; i < 64; i++)
        sum += parts[i];
    return sum;
}

static void meet(void)
{
    __atomic_store_n(&came, 0, __ATOMIC_SEQ_CST);
#pragma omp parallel
    {
        __atomic_fetch_add(&came, 1, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&came, __ATOMIC_SEQ_CST) < stored)
            usleep(100);
    }
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "";
    long wrong = 0, first = 0;
    alarm(300);
    if (!strcmp(how, "clause"))
        stored = 2;
    else
#pragma omp parallel
#pragma omp single
        stored = omp_get_num_threads();
    for (int round = 0; round < 150; round++) {
        long sum;
        if (!strcmp(how, "hangs"))
            meet(), sum = 0;
        else
            sum = added(!strcmp(how, "clause"));
        usleep(500);
        first = round ? first : sum;
        wrong += sum != first || (sum && sum != 499500);
    }
    if (!strcmp(how, "crashes") && wrong)
        abort();
    FILE *out = !strcmp(how, "file") ? fopen(words[2], "w") : stdout;
    if (!out)
        return 2;
    fprintf(out, "threads\n");
    fprintf(out, "wrong sums: %s\n", wrong && strcmp(how, "hangs") ? "some" : "none");
    return 0;
}
