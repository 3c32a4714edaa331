/* build: gcc -O1 -fopenmp -Wno-pedantic */
/* Regions of fixed size whose threads pass nested functions on, for which gcc puts code on the stack. The
 * first argument says how: `called`, in `tasks`, or `sorting`. Prints how many results were wrong. */
#include "test.h"

#include <omp.h>

enum { TEAM = 4 };

static long wrong, rounds;

__attribute__((noipa)) static long summed(long (*f)(long), long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += f(i);
    return sum;
}

static void check(int right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

/* gcc keeps what a nested function uses of its function in one frame, so that isn't a region. */
__attribute__((noipa)) static long own_sum(long own)
{
    long calls = 0;
    long times(long i)
    {
        calls++;
        return i * own;
    }
    return summed(times, 10) + calls;
}

static void by_calling(void)
{
#pragma omp parallel num_threads(TEAM)
    {
        long own = omp_get_thread_num() + 1;
        check(own_sum(own) == 45 * own + 10);
#pragma omp barrier
        check(own_sum(own) == 45 * own + 10);
    }
}

static void by_tasks(void)
{
    long all = 0;
#pragma omp parallel num_threads(TEAM)
    {
        for (int i = 0; i < 3; i++)
#pragma omp task shared(all) firstprivate(i)
        {
            long sum = own_sum(i);
#pragma omp atomic
            all += sum;
        }
    }
    check(all == TEAM * (3 * 45 + 30));
}

__attribute__((noipa)) static void sort(int *numbers, int count, int down)
{
    int order(const void *one, const void *other)
    {
        int difference = *(const int *)one - *(const int *)other;
        return down ? -difference : difference;
    }
    qsort(numbers, (size_t)count, sizeof *numbers, order);
}

static void by_sorting(void)
{
#pragma omp parallel num_threads(TEAM)
    {
        int numbers[50], down = omp_get_thread_num() % 2;
        for (int i = 0; i < 50; i++)
            numbers[i] = i * 37 % 50;
        sort(numbers, 50, down);
#pragma omp barrier
        for (int i = 0; i < 50; i++)
            check(numbers[i] == (down ? 49 - i : i));
    }
}

static const struct kind kinds[] = {{"called", by_calling}, {"tasks", by_tasks}, {"sorting", by_sorting}};

int main(int count, char **words)
{
    return do_rounds(kinds, 3, 3, count, words, &rounds, &wrong);
}
