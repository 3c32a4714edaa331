/*
 * empty: what an empty parallel region costs, for `scaf bench overhead`.
 *
 * Two of these take turns and are compared: time is cut into slots of 16 ms, `empty 0` runs regions for a few
 * milliseconds in the even slots and `empty 1` in the odd ones. What slows the machine down for longer than a
 * slot slows both. Prints the nanoseconds per region of each slot as JSON,
 * {"threads":2,"turns":[[slot,ns],...]}; "threads" is the smallest team. The team's size is the runtime's
 * (OMP_NUM_THREADS). A compiler barrier keeps the region from being dropped.
 */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* In the first turns the runtime makes its threads, and a managed program attaches and becomes known. */
enum { TURNS = 61, FIRST_TURNS = 20, SLOT_MS = 16, PHASES = 4, RUN_UP_US = 200, TIMED_US = 500 };

/* Regions for so long; returns the time per region in nanoseconds. */
static double regions(double microseconds)
{
    long count = 0;
    double start = now(), elapsed;
    do {
        for (int i = 0; i < 100; i++) {
#pragma omp parallel
            __asm__ volatile("" ::: "memory");
        }
        count += 100;
        elapsed = now() - start;
    } while (elapsed < microseconds * 1e-6);
    return elapsed * 1e9 / (double)count;
}

/*
 * libgomp allocates and frees a team of one, aligned to 64 bytes, at each region; larger teams are kept. The
 * heap's end modulo 64, which depends on earlier allocations, makes up to 30 ns of it. Each turn tries all.
 */
static double all_phases(int threads)
{
    double sum = 0;
    for (int i = 0; i < PHASES; i++) {
        /* Kept: it shifts what comes after it by 16 bytes modulo 64. */
        if (threads == 1 && malloc(4096 + 16) == NULL)
            exit(1);
        regions(RUN_UP_US);
        sum += regions(TIMED_US);
    }
    return sum / PHASES;
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

/* Sleeps until the next slot that is ours begins; returns its number. */
static long next_slot(long phase)
{
    long slot = (long)(now() * 1e3 / SLOT_MS) + 1;
    slot += (slot ^ phase) & 1;
    long long begin = (long long)slot * SLOT_MS * 1000000;
    struct timespec at = { .tv_sec = begin / 1000000000, .tv_nsec = begin % 1000000000 };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        continue;
    return slot;
}

int main(int argc, char **argv)
{
    if (argc != 2 || (strcmp(argv[1], "0") != 0 && strcmp(argv[1], "1") != 0)) {
        fprintf(stderr, "usage: empty 0|1 (even or odd turns)\n");
        return 2;
    }
    long slots[TURNS];
    double ns[TURNS];
    int threads = team();
    for (int i = -FIRST_TURNS; i < TURNS; i++) {
        long slot = next_slot(argv[1][0] - '0');
        double each = all_phases(threads);
        int met = team();
        if (i <= 0 || met < threads)
            threads = met;
        if (i < 0)
            continue;
        slots[i] = slot;
        ns[i] = each;
    }
    printf("{\"threads\":%d,\"turns\":[", threads);
    for (int i = 0; i < TURNS; i++)
        printf("%s[%ld,%.2f]", i == 0 ? "" : ",", slots[i], ns[i]);
    printf("]}\n");
    return 0;
}
