/*
 * A program made of knobs: serial time, parallel time, a lock, imbalance, barriers, schedule. It shows how a
 * scheduler treats one property at a time.
 *
 * Work is a chain of steps x <- A x + C (mod 2^64), about 1.3 ns each. Its end is known in O(log steps) by
 * squaring the step, so results are verified to the last bit.
 * Nothing is calibrated at run time: a "microsecond" is a fixed number of steps.
 */
#include "common.h"

/* A multiplication and an addition in a chain, four cycles: a microsecond at 2.8 GHz. */
enum { STEPS_PER_US = 700 };

#define STEP_A UINT64_C(6364136223846793005)
#define STEP_C UINT64_C(1442695040888963407)

static const int ITERATIONS[] = {[CLASS_S] = 20, [CLASS_W] = 1000, [CLASS_A] = 5000};

enum schedule { STATIC, DYNAMIC, GUIDED, RUNTIME };
static const char *const SCHEDULES[] = {"static", "dynamic", "guided", "runtime", NULL};

static int schedule = STATIC;
static double serial_us = 50, parallel_us = 1000, critical_us, imbalance, barriers, chunk_count = 64;
static double iterations;

/* Where a piece of work starts: different for every iteration, stage and chunk. */
static uint64_t seed(int iteration, int stage, int chunk)
{
    return ((uint64_t)iteration << 32 | (uint64_t)stage << 16 | (uint64_t)chunk) + 1;
}

static uint64_t burn(uint64_t x, uint64_t steps)
{
    for (; steps > 0; steps--) {
        x = STEP_A * x + STEP_C;
        __asm__("" : "+r"(x)); /* clang would fold eight steps into one */
    }
    return x;
}

/* What `burn` returns, without the work. */
static uint64_t foresee(uint64_t x, uint64_t steps)
{
    for (uint64_t a = STEP_A, c = STEP_C; steps > 0; steps >>= 1, c *= a + 1, a *= a)
        if (steps & 1)
            x = a * x + c;
    return x;
}

static uint64_t serial_steps(void)
{
    return (uint64_t)(serial_us * STEPS_PER_US);
}

/* A ramp from 1 - imbalance to 1 + imbalance times the average; a region's total stays the same. */
static uint64_t chunk_steps(int chunk)
{
    double average = parallel_us * STEPS_PER_US / (barriers + 1) / chunk_count;
    double position = chunk_count > 1 ? 2 * chunk / (chunk_count - 1) - 1 : 0;
    return (uint64_t)(average * (1 + imbalance * position));
}

typedef uint64_t (*worker)(uint64_t, uint64_t);

static inline uint64_t work_chunk(worker work, int iteration, int stage, int chunk)
{
    return work(seed(iteration, stage, chunk), chunk_steps(chunk));
}

/* What is done under a lock after a chunk. */
static uint64_t locked(worker work, int iteration, int stage, int chunk)
{
    return critical_us > 0 ? work(~seed(iteration, stage, chunk), (uint64_t)(critical_us * STEPS_PER_US)) : 0;
}

static uint64_t do_chunk(int iteration, int stage, int chunk)
{
    uint64_t sum = work_chunk(burn, iteration, stage, chunk);
    if (critical_us > 0) {
#pragma omp critical
        sum += locked(burn, iteration, stage, chunk);
    }
    return sum;
}

/* The calling thread's share of a stage. */
static uint64_t share(int iteration, int stage)
{
    int chunks = (int)chunk_count;
    uint64_t sum = 0;
    switch ((enum schedule)schedule) {
    case STATIC:
#pragma omp for schedule(static) nowait
        for (int chunk = 0; chunk < chunks; chunk++)
            sum += do_chunk(iteration, stage, chunk);
        break;
    case DYNAMIC:
#pragma omp for schedule(dynamic) nowait
        for (int chunk = 0; chunk < chunks; chunk++)
            sum += do_chunk(iteration, stage, chunk);
        break;
    case GUIDED:
#pragma omp for schedule(guided) nowait
        for (int chunk = 0; chunk < chunks; chunk++)
            sum += do_chunk(iteration, stage, chunk);
        break;
    case RUNTIME:
#pragma omp for schedule(runtime) nowait
        for (int chunk = 0; chunk < chunks; chunk++)
            sum += do_chunk(iteration, stage, chunk);
        break;
    }
    return sum;
}

static uint64_t parallel_phase(int iteration)
{
    uint64_t sum = 0;
    int stages = (int)barriers + 1;
#pragma omp parallel reduction(+ : sum)
    for (int stage = 0; stage < stages; stage++) {
        if (stage > 0) {
#pragma omp barrier
        }
        sum += share(iteration, stage);
    }
    return sum;
}

/* The whole run's sum, foreseen. */
static uint64_t foreseen(int count)
{
    uint64_t sum = 0;
    for (int iteration = 0; iteration < count; iteration++) {
        sum += foresee(seed(iteration, 0, 0), serial_steps());
        for (int stage = 0; stage <= (int)barriers; stage++)
            for (int chunk = 0; chunk < (int)chunk_count; chunk++)
                sum += work_chunk(foresee, iteration, stage, chunk) +
                       locked(foresee, iteration, stage, chunk);
    }
    return sum;
}

int main(int argc, char **argv)
{
    static const char *const forms[] = {"loops", NULL};
    static const struct knob knobs[] = {
        {.name = "serial-us", .help = "serial work before each region", .number = &serial_us, .most = 1e7},
        {.name = "parallel-us", .help = "work of a region, by one thread", .number = &parallel_us,
         .most = 1e7},
        {.name = "critical-us", .help = "work under a lock after each chunk", .number = &critical_us,
         .most = 1e6},
        {.name = "imbalance", .help = "0: equal chunks, 1: from nothing to twice the average",
         .number = &imbalance, .most = 1},
        {.name = "barriers-per-region", .help = "barriers, cutting its work in equal parts",
         .number = &barriers, .most = 1000, .whole = true},
        {.name = "chunks", .help = "iterations of each loop", .number = &chunk_count, .least = 1,
         .most = 65535, .whole = true},
        {.name = "iterations", .help = "regions, 0 for the class's own number", .number = &iterations,
         .most = 1e6, .whole = true},
        {.name = "schedule", .help = "of the loops", .choice = &schedule, .words = SCHEDULES},
        {0},
    };
    static const struct program program = {"phases", "serial and parallel phases to order", forms, knobs};
    struct run run = begin(&program, argc, argv);
    int count = iterations >= 1 ? (int)iterations : ITERATIONS[run.size];
    uint64_t want = foreseen(count), sum = 0;
    for (int i = 0; i < run.repeat; i++) {
        sum = 0;
        double start = now();
        for (int iteration = 0; iteration < count; iteration++) {
            sum += burn(seed(iteration, 0, 0), serial_steps());
            sum += parallel_phase(iteration);
        }
        run.seconds += now() - start;
        run.verified &= sum == want;
    }
    return finish(&run, "%llu", (unsigned long long)sum);
}
