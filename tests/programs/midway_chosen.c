/* build: gcc -O2 -fopenmp -pthread -ldl */
/* As midway.c, in regions of some rounds: each thread chooses things for itself, asks what it has chosen in
 * the rounds before, and takes part in loops by the schedule that it has chosen. */
#define ROUNDS 1000
static void also(int me, int team, long round, long here);
static void before(long region);
#include "midway.c"

#include <dlfcn.h>

static long all;
static int chunk_before, is_llvms;
static int who[40];
static __thread long last_chunk;
static __thread int last_dynamic;

/* LLVM's loops go by what was chosen before the region. */
static void before(long region)
{
    is_llvms = dlsym(NULL, "kmp_set_defaults") != NULL;
    chunk_before = (int)(region % 4) + 1;
    omp_set_schedule(omp_sched_static, chunk_before);
}

static void also(int me, int team, long round, long here)
{
    static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
    omp_sched_t kind = kinds[round % 3];
    int chunk = (int)(round % 5) + 1, said = 0;
    omp_sched_t kind_said;
    omp_get_schedule(&kind_said, &said);
    /* Each chose another chunk size after the last loop. */
    check(here == 1 || said == last_chunk);
    check(here == 1 || !omp_get_dynamic() == !last_dynamic);
    omp_set_schedule(kind, chunk);
    omp_set_dynamic(last_dynamic = (me ^ round) & 1);
#pragma omp single
    all = 0;
    omp_get_schedule(&kind_said, &said);
    check((kind_said & 0x7fffffff) == kind && said == chunk);
#pragma omp for schedule(runtime)
    for (int i = 0; i < 40; i++) {
        who[i] = me;
        __atomic_fetch_add(&all, i, __ATOMIC_RELAXED);
    }
    check(all == 780);
    if (is_llvms || kind == omp_sched_static)
        for (int i = 0; i < 40; i++)
            check(who[i] == i / (is_llvms ? chunk_before : chunk) % team);
    omp_set_schedule(omp_sched_dynamic, (int)(last_chunk = 10 + me + round % 7));
#pragma omp barrier
}
