/*
 * A STREAM-like triad, a region an iteration: bound by memory bandwidth in class A, so that more threads
 * stop helping long before they run out of processors.
 *
 * Each iteration computes a = b + s c and the three arrays change places. With s = -1 the values of an
 * element repeat after six iterations and every operation is exact: any run is verifiable to the last bit.
 */
#include "common.h"

static const struct {
    int log_elements, iterations; /* three arrays of 8-byte elements: 1.5 MB, 48 MB, 1.5 GB */
} SIZES[] = {
    [CLASS_S] = {16, 200},
    [CLASS_W] = {21, 100},
    [CLASS_A] = {26, 20},
};

static double iterations; /* 0: the class's own number */

/* Powers of two, so that scaling keeps every operation exact. */
static double scale(size_t i)
{
    return (double)(1 << i % 4);
}

static void triad(size_t n, double s, const double *restrict b, const double *restrict c, double *restrict a)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + s * c[i];
}

/* The other form: the array is only read. Eight sums, so that memory is what it waits for. */
static double read_all(size_t n, const double *b)
{
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t i = 0; i < n / 8; i++)
        sum += ((b[8 * i] + b[8 * i + 1]) + (b[8 * i + 2] + b[8 * i + 3])) +
               ((b[8 * i + 4] + b[8 * i + 5]) + (b[8 * i + 6] + b[8 * i + 7]));
    return sum;
}

int main(int argc, char **argv)
{
    static const char *const forms[] = {"loops", "read", NULL};
    static const struct knob knobs[] = {
        {.name = "niter", .help = "iterations, 0 for the class's own number", .number = &iterations,
         .most = 1e6, .whole = true},
        {0},
    };
    static const struct program program = {"triad", "a = b + s c, bandwidth-bound", forms, knobs};
    struct run run = begin(&program, argc, argv);
    size_t n = (size_t)1 << SIZES[run.size].log_elements;
    int steps = iterations >= 1 ? (int)iterations : SIZES[run.size].iterations;
    double *a = must_alloc(n, sizeof *a), *b = must_alloc(n, sizeof *b), *c = must_alloc(n, sizeof *c);

    double sum = 0;
    for (int i = 0; i < run.repeat; i++) {
        double want = 1, want_before = 0.75; /* what an element of scale 1 holds */
#pragma omp parallel for schedule(static)
        for (size_t k = 0; k < n; k++) {
            b[k] = 1 * scale(k);
            c[k] = 0.75 * scale(k);
        }
        double start = now();
        for (int step = 0; step < steps; step++) {
            if (run.form == 1) {
                /* Scales 1, 2, 4, 8, 1, ...: 15 for each four elements. */
                run.verified &= read_all(n, b) == 15.0 / 4 * (double)n;
                continue;
            }
            triad(n, -1, b, c, a);
            double *oldest = c;
            c = b;
            b = a;
            a = oldest;
        }
        run.seconds += now() - start;
        for (int step = 0; step < steps && run.form == 0; step++) {
            double next = want - want_before;
            want_before = want;
            want = next;
        }
        sum = 0;
        for (size_t k = 0; k < n; k++) {
            run.verified &= b[k] == want * scale(k);
            sum += b[k];
        }
    }
    return finish(&run, "%.17g", sum);
}
