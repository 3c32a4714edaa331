/*
 * What every kernel shares: the command line, the clock, the NPB random numbers and the one line of JSON.
 *
 * Nothing here or in the kernels asks for the size of a team that runs (no omp_get_num_threads, no
 * threadprivate, no num_threads clause), because scaf doesn't resize a program whose results could depend on
 * that size.
 * The only exception is `lu_rigid`, which is there to be such a program.
 */
#ifndef KERNELS_COMMON_H
#define KERNELS_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An option of one program, beyond the common ones. Exactly one of `number` and `choice` is set. */
struct knob {
    const char *name;           /* as typed, without the dashes */
    const char *help;           /* one line, with the unit */
    double *number;             /* where the number goes; its initial value is the default */
    double least, most;         /* the accepted range, both ends included */
    bool whole;                 /* only whole numbers */
    int *choice;                /* where the index of the chosen word goes */
    const char *const *words;   /* the accepted words, NULL at the end */
};

/* Fixed facts about one program. */
struct program {
    const char *name;
    const char *summary;        /* one line for --help */
    const char *const *forms;   /* NULL at the end; the first one is the default */
    const struct knob *knobs;   /* name == NULL at the end; may be NULL */
};

/* Problem sizes, in NPB's letters. Also the index into each program's table of sizes. */
enum problem_class { CLASS_S, CLASS_W, CLASS_A };

/* What the user asked for. */
struct run {
    const struct program *program;
    enum problem_class size;
    int form;                   /* index into program->forms */
    int repeat;                 /* how many times the timed section runs, at least 1 */
    double seconds;             /* sum over the timed sections */
    bool verified;              /* of all repeats */
};

/* Reads the command line. Prints and exits with status 0 for --help and 2 for a wrong option. */
struct run begin(const struct program *program, int argc, char **argv);

/* Prints the JSON line; `format` makes the "value" string. Returns main's status: 0, or 1 if not verified. */
int finish(const struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* So many threads were at work at a time: for programs that aren't OpenMP's. */
void seen(int threads);

/* Seconds on the monotonic clock. */
double now(void);

/* Memory aligned to a cache line and zeroed, or a message and exit status 1. */
void *must_alloc(size_t count, size_t size);

/* |got - want| <= epsilon |want|, the way NPB compares. False for NaN. */
bool close_to(double got, double want, double epsilon);

/* NPB's generator: x <- a x mod 2^46 (RNR-94-007, section 2.3). Unsigned 64-bit multiplication wraps at 2^64,
 * a multiple of 2^46, so the low 46 bits are exact and equal to NPB's split double arithmetic. */
#define LCG_A UINT64_C(1220703125) /* 5^13 */
#define LCG_SEED UINT64_C(314159265)
#define LCG_MASK ((UINT64_C(1) << 46) - 1)

/* Steps the generator and returns the new state as a number in (0, 1). */
static inline double lcg_next(uint64_t *state)
{
    *state = *state * LCG_A & LCG_MASK;
    return (double)*state * 0x1p-46;
}

/* The state `steps` steps after `state`, in O(log steps). */
static inline uint64_t lcg_jump(uint64_t state, uint64_t steps)
{
    for (uint64_t power = LCG_A; steps != 0; steps >>= 1, power = power * power & LCG_MASK)
        if (steps & 1)
            state = state * power & LCG_MASK;
    return state;
}

#endif
