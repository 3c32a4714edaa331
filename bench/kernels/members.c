/*
 * members: what a barrier and an empty region cost a team that keeps its size, for `scaf bench overhead`.
 *
 * `members N` runs regions of N threads, by a num_threads clause, for a second, so that a managed program has
 * attached and is gathered; then it times BATCHES batches of empty regions, and as many of regions with
 * BARRIERS barriers. Prints the medians in nanoseconds as JSON, {"members":8,"region_ns":..,"barrier_ns":..}.
 */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <stdio.h>
#include <stdlib.h>

enum { BARRIERS = 1000, REGIONS = 100, BATCHES = 101, RUN_UP_S = 1 };

static double empty(int members)
{
    double start = now();
    for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel num_threads(members)
        __asm__ volatile("" ::: "memory");
    }
    return (now() - start) * 1e9 / REGIONS;
}

static double barriers(int members)
{
    double start = now();
#pragma omp parallel num_threads(members)
    for (int i = 0; i < BARRIERS; i++) {
#pragma omp barrier
    }
    return (now() - start) * 1e9 / BARRIERS;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double (*once)(int), int members)
{
    double each[BATCHES];
    for (int i = 0; i < BATCHES; i++)
        each[i] = once(members);
    qsort(each, BATCHES, sizeof *each, by_value);
    return each[BATCHES / 2];
}

int main(int argc, char **argv)
{
    int members = argc == 2 ? atoi(argv[1]) : 0;
    if (members < 2 || members > 64) {
        fprintf(stderr, "usage: members 2..64\n");
        return 2;
    }
    for (double end = now() + RUN_UP_S; now() < end;) {
        empty(members);
        barriers(members);
    }
    double region = median(empty, members);
    printf("{\"members\":%d,\"region_ns\":%.1f,\"barrier_ns\":%.1f}\n", members, region,
        median(barriers, members));
    return 0;
}
