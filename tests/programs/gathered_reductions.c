/* build: gcc -O2 -fopenmp */
/* Regions of fixed size whose tasks add up, in groups, loops and whole regions. The first argument says
 * which; without one, all by turns. Prints how many results were wrong. */
#include "test.h"

#include <omp.h>

enum { TEAM = 4, MANY = 700 };

static long wrong, rounds;

static void check(int right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

struct range {
    long least, most, count;
};

static void widen(struct range *to, const struct range *from)
{
    to->least = from->least < to->least ? from->least : to->least;
    to->most = from->most > to->most ? from->most : to->most;
    to->count += from->count;
}

#pragma omp declare reduction(widen : struct range : widen(&omp_out, &omp_in)) \
    initializer(omp_priv = {1000000, -1000000, omp_orig.count / 1000})

static long tree(int depth, long *sum)
{
#pragma omp taskgroup task_reduction(+ : sum[0 : 2])
    for (int i = 0; i < 3; i++) {
#pragma omp task in_reduction(+ : sum[0 : 2])
        {
            sum[0] += depth;
            sum[1]++;
            if (depth > 1) {
                long below[2] = {0, 0};
                tree(depth - 1, below);
                sum[0] += below[0];
                sum[1] += below[1];
            }
        }
    }
    return sum[1];
}

static void by_grouping(void)
{
    long sum = 5, product = 1;
    double quarters[MANY] = {0};
    struct range range = {50, 60, 7};
    long both[2] = {0, 0};
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : sum, quarters) task_reduction(* : product) \
    task_reduction(widen : range)
        for (int i = 0; i < 100; i++) {
#pragma omp task in_reduction(+ : sum, quarters) in_reduction(* : product) in_reduction(widen : range) \
    firstprivate(i) final(i == 70)
            {
                sum += i;
                quarters[i] += 0.25;
                quarters[MANY - 1] += 0.25;
                product *= i % 10 == 0 ? 2 : 1;
                widen(&range, &(struct range){i, i, 1});
#pragma omp task in_reduction(+ : sum)
                sum += 1000;
#pragma omp taskgroup task_reduction(+ : quarters)
                {
#pragma omp task in_reduction(+ : quarters) in_reduction(* : product)
                    {
                        quarters[i] += 0.25;
                        product *= i == 50 ? 3 : 1;
                    }
                }
            }
        }
        check(sum == 5 + 4950 + 100000 && product == 3 << 10 && quarters[MANY - 1] == 25);
        for (int i = 0; i < 100; i++)
            check(quarters[i] == 0.5);
        check(range.least == 0 && range.most == 99 && range.count == 107);
        tree(4, both);
        check(both[1] == 3 + 9 + 27 + 81 && both[0] == 3 * 4 + 9 * 3 + 27 * 2 + 81);
    }
}

static void by_looping(void)
{
    long sum = 0;
    double large[MANY] = {0};
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    {
#pragma omp taskloop grainsize(9) reduction(+ : sum, large)
        for (long i = 0; i < 500; i++) {
            sum += i;
            large[i] += 1;
        }
        check(sum == 124750 && large[0] == 1 && large[499] == 1 && large[500] == 0);
#pragma omp taskgroup task_reduction(+ : sum)
        {
#pragma omp taskloop num_tasks(5) in_reduction(+ : sum) nogroup
            for (long i = 0; i < 500; i++)
                sum += i;
#pragma omp task in_reduction(+ : sum)
            sum++;
        }
        check(sum == 2 * 124750 + 1);
    }
}

static void by_region(void)
{
    long sum = 3, product = 1;
#pragma omp parallel reduction(task, + : sum) reduction(task, * : product) num_threads(TEAM)
    {
        sum += 100000;
        product *= 2;
#pragma omp single
        for (long i = 0; i < 300; i++) {
#pragma omp task in_reduction(+ : sum) in_reduction(* : product)
            {
                sum += i;
                product *= i == 150 ? 5 : 1;
#pragma omp task in_reduction(+ : sum)
                sum++;
            }
        }
#pragma omp task in_reduction(+ : sum)
        sum += 7;
    }
    check(sum == 3 + TEAM * 100007 + 44850 + 300 && product == 5 << TEAM);
    long inner = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : inner)
    {
        long mine = 0;
#pragma omp parallel num_threads(2) reduction(task, + : mine)
        {
#pragma omp task in_reduction(+ : mine)
            mine += 9;
        }
        inner += mine;
    }
    check(inner == TEAM * 9);
#ifdef __clang__
    long dealt = 0;
#pragma omp parallel num_threads(TEAM)
    for (int i = 0; i < 3; i++) {
#pragma omp for reduction(task, + : dealt)
        for (long i = 0; i < 40; i++) {
            dealt += 1000;
#pragma omp task in_reduction(+ : dealt)
            dealt++;
        }
    }
    check(dealt == 3 * 40 * 1001);
#endif
}

static const struct kind kinds[] = {
    {"grouping", by_grouping}, {"looping", by_looping}, {"region", by_region},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

int main(int count, char **words)
{
    return do_rounds(kinds, KINDS, KINDS, count, words, &rounds, &wrong);
}
