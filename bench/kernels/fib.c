/* Fibonacci numbers by recursion, in the manner of BOTS's fib: tasks down to a depth, plain calls below.
 * Nothing but calls and tasks: with a deep --cutoff it measures the runtime's task queue. */
#include "common.h"

static const int ARGUMENT[] = {[CLASS_S] = 28, [CLASS_W] = 42, [CLASS_A] = 45};
static double cutoff = 10;

static uint64_t plain(int n)
{
    return n < 2 ? (uint64_t)n : plain(n - 1) + plain(n - 2);
}

static uint64_t by_tasks(int n, int depth)
{
    if (n < 2 || depth == 0)
        return plain(n);
    uint64_t one_less, two_less;
#pragma omp task shared(one_less)
    one_less = by_tasks(n - 1, depth - 1);
#pragma omp task shared(two_less)
    two_less = by_tasks(n - 2, depth - 1);
#pragma omp taskwait
    return one_less + two_less;
}

static uint64_t by_loop(int n)
{
    uint64_t number = 0, next = 1;
    for (int i = 0; i < n; i++) {
        uint64_t sum = number + next;
        number = next;
        next = sum;
    }
    return number;
}

int main(int argc, char **argv)
{
    static const char *const forms[] = {"tasks", NULL};
    static const struct knob knobs[] = {
        {.name = "cutoff", .help = "depth below which calls are plain", .number = &cutoff, .most = 30,
         .whole = true},
        {0},
    };
    static const struct program program = {"fib", "Fibonacci numbers by recursive tasks", forms, knobs};
    struct run run = begin(&program, argc, argv);
    uint64_t number = 0;
    for (int i = 0; i < run.repeat; i++) {
        double start = now();
#pragma omp parallel shared(number)
#pragma omp single
        number = by_tasks(ARGUMENT[run.size], (int)cutoff);
        run.seconds += now() - start;
        run.verified &= number == by_loop(ARGUMENT[run.size]);
    }
    return finish(&run, "%llu", (unsigned long long)number);
}
