/* Merge sort by tasks, in the manner of BOTS's sort: both the halves and the merging are split into tasks.
 * Parallelism grows and shrinks along the recursion; a team of any size runs the same tasks. */
#include "common.h"

#include <string.h>

/* Below these many keys a task costs more than it brings: 4096 keys take about 0.2 ms to sort. */
enum { SORT_CUTOFF = 4096, MERGE_CUTOFF = 8192, INSERTION_CUTOFF = 16 };

static const int LOG_KEYS[] = {[CLASS_S] = 17, [CLASS_W] = 21, [CLASS_A] = 24};

static void insertion_sort(uint32_t *a, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint32_t key = a[i];
        size_t j = i;
        for (; j > 0 && a[j - 1] > key; j--)
            a[j] = a[j - 1];
        a[j] = key;
    }
}

/* How many of a's n sorted keys are less than `key`. */
static size_t count_below(const uint32_t *a, size_t n, uint32_t key)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (a[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void merge(const uint32_t *a, size_t na, const uint32_t *b, size_t nb, uint32_t *out)
{
    if (na < nb) {
        merge(b, nb, a, na, out);
    } else if (na + nb > MERGE_CUTOFF) {
        size_t half = na / 2, below = count_below(b, nb, a[half]);
#pragma omp task
        merge(a, half, b, below, out);
#pragma omp task
        merge(a + half, na - half, b + below, nb - below, out + half + below);
#pragma omp taskwait
    } else {
        size_t i = 0, j = 0;
        while (i < na && j < nb)
            *out++ = b[j] < a[i] ? b[j++] : a[i++];
        memcpy(out, a + i, (na - i) * sizeof *a);
        memcpy(out + (na - i), b + j, (nb - j) * sizeof *b);
    }
}

/* Sorts the n keys of `a`; the result goes to `b` if `to_b`, else to `a`. The other one is scratch. */
static void sort(uint32_t *a, uint32_t *b, size_t n, bool to_b)
{
    size_t half = n / 2;
    if (n <= INSERTION_CUTOFF) {
        insertion_sort(a, n);
        if (to_b)
            memcpy(b, a, n * sizeof *a);
        return;
    }
    if (n > SORT_CUTOFF) {
#pragma omp task
        sort(a, b, half, !to_b);
#pragma omp task
        sort(a + half, b + half, n - half, !to_b);
#pragma omp taskwait
    } else {
        sort(a, b, half, !to_b);
        sort(a + half, b + half, n - half, !to_b);
    }
    uint32_t *from = to_b ? a : b, *to = to_b ? b : a;
    merge(from, half, from + half, n - half, to);
}

/* A sum that doesn't depend on order, but does on every key. */
static uint64_t fingerprint(const uint32_t *keys, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t mixed = (keys[i] + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
        sum += mixed ^ mixed >> 29;
    }
    return sum;
}

int main(int argc, char **argv)
{
    static const char *const forms[] = {"tasks", NULL};
    static const struct program program = {"sort", "merge sort by tasks", forms, NULL};
    struct run run = begin(&program, argc, argv);
    size_t n = (size_t)1 << LOG_KEYS[run.size];
    uint32_t *keys = must_alloc(n, sizeof *keys), *scratch = must_alloc(n, sizeof *scratch);
    uint64_t print = 0;
    for (int i = 0; i < run.repeat; i++) {
        uint64_t state = LCG_SEED;
        for (size_t k = 0; k < n; k++)
            keys[k] = (uint32_t)(lcg_next(&state) * 0x1p32);
        uint64_t before = fingerprint(keys, n);
        double start = now();
#pragma omp parallel
#pragma omp single
        sort(keys, scratch, n, false);
        run.seconds += now() - start;
        print = fingerprint(keys, n);
        run.verified &= print == before;
        for (size_t k = 1; k < n; k++)
            run.verified &= keys[k - 1] <= keys[k];
    }
    return finish(&run, "%llu", (unsigned long long)print);
}
