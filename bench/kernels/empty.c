/*
 * empty: what an empty parallel region costs, for `scaf bench overhead`.
 *
 * After a warm-up, which lets the runtime make its threads and a managed program attach, it times batches of empty
 * regions and prints the median batch's time per region as JSON: {"threads":2,"ns":712.5}. The size of the team is
 * the runtime's (OMP_NUM_THREADS). The region is empty but for a compiler barrier, without which nothing keeps a
 * compiler from dropping it.
 */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 101, WARM_UP_MS = 300, BATCH_US = 5000 };

static void regions(long count)
{
    for (long i = 0; i < count; i++) {
#pragma omp parallel
        __asm__ volatile("" ::: "memory");
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Counts the team as the other kernels do: by letting each thread add one. */
static int team(void)
{
    int threads = 0;
#pragma omp parallel shared(threads)
    {
#pragma omp atomic
        threads += 1;
    }
    return threads;
}

int main(void)
{
    /* Warm-up, which also says how many regions make a batch long enough for the clock. */
    long count = 0;
    double start = now(), elapsed = 0;
    while (elapsed < WARM_UP_MS * 1e-3) {
        regions(100);
        count += 100;
        elapsed = now() - start;
    }
    long batch = (long)((double)count / elapsed * BATCH_US * 1e-6) + 1;

    double ns[BATCHES];
    for (int i = 0; i < BATCHES; i++) {
        start = now();
        regions(batch);
        ns[i] = (now() - start) * 1e9 / (double)batch;
    }
    qsort(ns, BATCHES, sizeof ns[0], ascending);
    printf("{\"threads\":%d,\"ns\":%.2f}\n", team(), ns[BATCHES / 2]);
    return 0;
}
