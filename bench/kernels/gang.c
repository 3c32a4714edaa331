/*
 * gang: how far a program gets within a window of time, for `scaf bench gang`.
 *
 * `gang spin BEGIN END` has one region whose threads meet after each step at a barrier of their own and spin
 * on memory there, as OpenMP programs with flags of their own do, and runtimes that only spin. `gang loop
 * BEGIN END` does the same work in regions of any team. BEGIN and END are nanoseconds of CLOCK_MONOTONIC.
 * Prints, as JSON, the team, the steps of all threads in the window, and when thread 0 didn't run for 5 ms or
 * more: {"threads":2,"steps":N,"pauses":[[from_ns,to_ns],...]}.
 */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAUSE_NS = 5000000, MOST_PAUSES = 4096, ROUNDS = 6000, CHUNKS = 64 };

static long long begin_ns, end_ns, last_ns, pauses[MOST_PAUSES][2];
static long steps;
static int team, pause_count;

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* About 20 us. */
static void step(uint64_t *state)
{
    for (int i = 0; i < ROUNDS; i++)
        *state = *state * LCG_A & LCG_MASK;
    __asm__ volatile("" : : "r"(*state));
}

/* True when the window is over. By thread 0 only. */
static bool note(long done)
{
    long long at = now_ns();
    if (at >= begin_ns && at < end_ns) {
        steps += done;
        if (last_ns != 0 && at - last_ns >= PAUSE_NS && pause_count < MOST_PAUSES) {
            pauses[pause_count][0] = last_ns;
            pauses[pause_count++][1] = at;
        }
    }
    last_ns = at;
    return at >= end_ns;
}

static void spin(void)
{
    static _Atomic long arrived, generation, last;
    last = -1;
#pragma omp parallel
    {
        int me = omp_get_thread_num(), size = omp_get_num_threads();
        uint64_t state = LCG_SEED + (uint64_t)me;
        if (me == 0)
            team = size;
        /* Who comes last opens the barrier. Before it, thread 0 says whether the step is the last one. */
        for (long at = 0; at != atomic_load(&last); at++) {
            step(&state);
            if (me == 0 && note(size))
                atomic_store(&last, at + 1);
            if (atomic_fetch_add(&arrived, 1) == size - 1) {
                atomic_store(&arrived, 0);
                atomic_store(&generation, at + 1);
            } else {
                while (atomic_load(&generation) == at)
                    continue;
            }
        }
    }
}

static void loop(void)
{
    static uint64_t states[CHUNKS];
    do {
        int threads = 0;
#pragma omp parallel shared(threads)
        {
#pragma omp atomic
            threads += 1;
#pragma omp for schedule(static)
            for (int i = 0; i < CHUNKS; i++)
                step(&states[i]);
        }
        if (threads > team)
            team = threads;
    } while (!note(CHUNKS));
}

int main(int argc, char **argv)
{
    bool spins = argc == 4 && strcmp(argv[1], "spin") == 0;
    if (argc != 4 || (!spins && strcmp(argv[1], "loop") != 0)) {
        fprintf(stderr, "usage: gang spin|loop BEGIN END (nanoseconds of CLOCK_MONOTONIC)\n");
        return 2;
    }
    begin_ns = atoll(argv[2]);
    end_ns = atoll(argv[3]);
    if (spins)
        spin();
    else
        loop();
    printf("{\"threads\":%d,\"steps\":%ld,\"pauses\":[", team, steps);
    for (int i = 0; i < pause_count; i++)
        printf("%s[%lld,%lld]", i == 0 ? "" : ",", pauses[i][0], pauses[i][1]);
    printf("]}\n");
    return 0;
}
