/* A pipeline by flags, as NAS LU has it: the flag before is waited for and taken, one's own is waited for and
 * set, with a flush in both loops. */
#include <omp.h>
static int flags[64];
static double rows[64][512];

static void sweep(int me, int team, int step)
{
    if (me > 0) {
        int before = me - 1;
        while (flags[before] == 0) {
#pragma omp flush(flags)
        }
        flags[before] = 0;
#pragma omp flush(flags)
    }
    for (int i = 0; i < 512; i++)
        rows[me][i] += step;
    if (me < team - 1) {
        while (flags[me] == 1) {
#pragma omp flush(flags)
        }
        flags[me] = 1;
#pragma omp flush(flags)
    }
}

void pipeline(int steps)
{
#pragma omp parallel num_threads(4)
    for (int step = 0; step < steps; step++)
        sweep(omp_get_thread_num(), omp_get_num_threads(), step);
}
