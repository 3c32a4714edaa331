/* build: gcc -O2 -fopenmp -frounding-math -lm */
/* Regions of fixed size whose threads keep what they have by themselves: how they round, how many threads
 * they were told, how far ahead of others they are. The first argument says which.
 * Prints how many results were wrong. */
#include "test.h"

#include <fenv.h>
#include <omp.h>

enum { TEAM = 3, AHEAD = 100 };

static long wrong, rounds;

static void check(int right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

/* What threads choose for themselves in one region they have in the next. */
static void by_choosing_rounding(void)
{
    static const int modes[TEAM] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static __thread int chosen;
    static int had[TEAM];
#pragma omp parallel num_threads(TEAM)
    {
        int me = omp_get_thread_num();
        if (had[me])
            check(fegetround() == modes[(had[me] - 1 + me) % TEAM]);
        if (chosen++ % 50 == 0) {
            had[me] = 1 + (chosen / 50) % TEAM;
            fesetround(modes[(had[me] - 1 + me) % TEAM]);
        }
#pragma omp barrier
    }
}

/* What the first thread chooses now isn't its workers', who were there before. */
static void by_rounding(void)
{
    static const int modes[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    int mine = modes[rounds % 4], found[TEAM];
    fesetround(mine);
#pragma omp parallel num_threads(TEAM)
    {
        found[omp_get_thread_num()] = fegetround();
#pragma omp barrier
        check(fegetround() == found[omp_get_thread_num()]);
    }
    fesetround(FE_TONEAREST);
    check(found[0] == mine);
    for (int i = 1; i < TEAM; i++)
        check(found[i] == FE_TONEAREST);
}

static void by_choosing(void)
{
    int most = 1 + (int)(rounds % 7);
    omp_set_num_threads(most);
#pragma omp parallel num_threads(TEAM)
    {
        check(omp_get_max_threads() == most);
#pragma omp barrier
    }
}

/* The first thread has a lock that another one wants, and is the only one to get on meanwhile. */
static void by_running_ahead(void)
{
    static omp_lock_t lock;
    long done = 0;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(TEAM)
    {
        if (omp_get_thread_num() == 0)
            omp_set_lock(&lock);
#pragma omp barrier
        if (omp_get_thread_num() != 0) {
            omp_set_lock(&lock);
            omp_unset_lock(&lock);
        }
        for (int i = 0; i < AHEAD; i++) {
#pragma omp single nowait
            __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
        }
        if (omp_get_thread_num() == 0)
            omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    check(done == AHEAD);
}

static const struct kind kinds[] = {
    {"rounding", by_rounding},
    {"choosing-rounding", by_choosing_rounding},
    {"choosing", by_choosing},
    {"ahead", by_running_ahead},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

int main(int count, char **words)
{
    /* The workers, who round as everybody does. */
#pragma omp parallel num_threads(TEAM)
    check(fegetround() == FE_TONEAREST);
    return do_rounds(kinds, KINDS, 1, count, words, &rounds, &wrong);
}
