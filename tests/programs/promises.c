/* build: gcc -O2 -fopenmp */
/* Programs that count on their team's size, in the way that the argument names. Each checks it in every
 * round. FULL is what the test sets OMP_NUM_THREADS to. */
#include "test.h"
#include <omp.h>

#define FULL 3
static long mine;
#pragma omp threadprivate(mine)
static long team, smallest = 1000, wrong;

static void by_clause(void)
{
    long parts[FULL] = {0}, taken = 0;
#pragma omp parallel num_threads(FULL)
    {
        long part;
#pragma omp atomic capture
        part = taken++;
        if (part < FULL)
            parts[part] = 1;
    }
    team = taken;
    wrong += parts[0] + parts[1] + parts[2] != FULL;
}

static void by_count(void)
{
    long threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads = 1;
    team = threads;
}

static void by_private_data(void)
{
    static long rounds;
    long threads = 0, lagging = 0;
#pragma omp parallel reduction(+ : threads, lagging)
    {
        threads = 1;
        lagging = mine++ != rounds;
    }
    rounds++;
    wrong += lagging;
    team = threads;
}

static void by_size(void)
{
    long parts[64] = {0}, sum = 0;
    int size = 0;
#pragma omp parallel shared(size)
    {
        int number = omp_get_thread_num(), all = omp_get_num_threads();
        if (number == 0)
            size = all;
        for (int i = number; i < 100; i += all)
            parts[number] += i;
    }
    for (int i = 0; i < FULL; i++)
        sum += parts[i];
    wrong += sum != 4950;
    team = size;
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "";
    void (*round)(void) = by_count;
    long rounds = 0;
    if (!strcmp(how, "clause"))
        round = by_clause;
    else if (!strcmp(how, "set"))
        omp_set_num_threads(FULL);
    else if (!strcmp(how, "dynamic"))
        omp_set_dynamic(0);
    else if (!strcmp(how, "private"))
        round = by_private_data;
    else if (!strcmp(how, "size"))
        round = by_size;
    else
        return 2;
    do {
        round();
        smallest = team < smallest ? team : smallest;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("smallest", smallest);
    say("wrong", wrong);
    return wrong != 0;
}
