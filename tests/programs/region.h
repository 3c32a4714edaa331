/* A region whose result is known, for programs that are about what happens around it. */
#ifndef REGION_H
#define REGION_H

#include "test.h"
#include <time.h>

/* Regions whose result wasn't right, and whatever else the program counts. */
static long wrong;

static void region(void)
{
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (long i = 0; i < 64; i++)
        sum += i + 0 * work(200, i);
    wrong += sum != 2016;
}

/* Seconds. By the vDSO, without a system call. */
static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
