/*
 * LU-style SSOR on a cube with five unknowns a cell, its sweeps pipelined by threads that SPIN on flags.
 *
 * It's not NPB's LU: the 5x5 blocks are constants, so the reference values are our own. What it shares is
 * what matters to a scheduler: a wavefront handed from thread to thread many times a millisecond, by plain
 * busy loops that no runtime sees. As there, a plane is handed on only when the one before has been taken, so
 * neighbours wait for each other both ways. A thread that waits for one without a processor burns its slice.
 *
 * Forms:
 *   loops   a parallel region for each sweep; a flag for each BLOCK of rows, so any team size is right
 *   serial  plain loops, no flags: where the reference values come from
 *   rigid   one region, a flag for each THREAD. It asks for its number and team size, which keeps scaf from
 *           resizing any region of a program, so it is a program of its own, lu_rigid (-DLU_RIGID)
 *
 * Words: a sweep updates cells in order of plane k, row j, column i ("lower") or against it ("upper"). A cell
 * needs its neighbours in the planes, rows and columns before it. Progress is counted in planes, over all
 * sweeps of the run, so flags never have to be reset.
 */
#include "common.h"

#include <math.h>
#ifdef LU_RIGID
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

enum { VARS = 5, DIRECTIONS = 6, ROWS = 4 };
#define OMEGA 1.2

static const struct {
    int side, iterations;    /* side: cells, a multiple of ROWS */
    double residual, error;  /* root mean squares after the last iteration, by --form=serial */
} SIZES[] = {
    [CLASS_S] = {16, 4, 0.046179140836090482, 0.19439293189590467},
    [CLASS_W] = {48, 20, 0.004864535243187201, 0.043246941218216657},
    [CLASS_A] = {96, 15, 0.008866215747282245, 0.080479472883811742},
};

typedef double block[VARS][VARS];

/* Equations: diagonal u_c + sum over directions of coupling u_neighbour = load_c; u is 0 outside the cube. */
static block diagonal, inverse, coupling[DIRECTIONS];
static block sweep_block[DIRECTIONS]; /* omega diagonal^-1 coupling */

static int side, blocks;
static ptrdiff_t stride[DIRECTIONS]; /* in cells; directions 0 to 2 point to cells before, 3 to 5 after */
static double *solution, *load, *change; /* (side + 2)^3 cells of VARS numbers, with a border of zeros */

static inline ptrdiff_t cell(int k, int j, int i)
{
    return ((ptrdiff_t)k * (side + 2) + j) * (side + 2) + i;
}

static double exact(int m, int k, int j, int i)
{
    double h = M_PI / (side + 1);
    double wide = sin(h * k) * sin(h * j) * sin(h * i);
    double fine = sin(h * k) * sin(2 * h * j) * sin((m + 2) * h * i);
    return (1 + 0.1 * m) * wide + 0.05 * fine;
}

/* out -= a in */
static inline void subtract_product(block a, const double *restrict in, double *restrict out)
{
    for (int m = 0; m < VARS; m++)
        for (int l = 0; l < VARS; l++)
            out[m] -= a[m][l] * in[l];
}

/* change = load - A solution, for one plane */
static inline void residual_plane(int k)
{
    for (int j = 1; j <= side; j++) {
        for (int i = 1; i <= side; i++) {
            ptrdiff_t c = cell(k, j, i);
            double sum[VARS];
            memcpy(sum, load + c * VARS, sizeof sum);
            subtract_product(diagonal, solution + c * VARS, sum);
            for (int d = 0; d < DIRECTIONS; d++)
                subtract_product(coupling[d], solution + (c + stride[d]) * VARS, sum);
            memcpy(change + c * VARS, sum, sizeof sum);
        }
    }
}

/* (diagonal + omega L) change' = change, for rows first to last of plane k */
static void lower_rows(int k, int first, int last)
{
    for (int j = first; j <= last; j++) {
        for (int i = 1; i <= side; i++) {
            ptrdiff_t c = cell(k, j, i);
            double sum[VARS] = {0}, *here = change + c * VARS;
            subtract_product(inverse, here, sum);
            for (int m = 0; m < VARS; m++)
                sum[m] = -sum[m];
            for (int d = 0; d < 3; d++)
                subtract_product(sweep_block[d], change + (c + stride[d]) * VARS, sum);
            memcpy(here, sum, sizeof sum);
        }
    }
}

/* (1 + omega diagonal^-1 U) change' = change, for rows last down to first of plane k */
static void upper_rows(int k, int first, int last)
{
    for (int j = last; j >= first; j--) {
        for (int i = side; i >= 1; i--) {
            ptrdiff_t c = cell(k, j, i);
            double sum[VARS];
            memcpy(sum, change + c * VARS, sizeof sum);
            for (int d = 3; d < DIRECTIONS; d++)
                subtract_product(sweep_block[d], change + (c + stride[d]) * VARS, sum);
            memcpy(change + c * VARS, sum, sizeof sum);
        }
    }
}

static inline void update_plane(int k)
{
    for (int j = 1; j <= side; j++)
        for (ptrdiff_t x = cell(k, j, 1) * VARS; x < cell(k, j, side + 1) * VARS; x++)
            solution[x] += OMEGA * (2 - OMEGA) * change[x];
}

/* A cache line each, or neighbours would slow each other down. */
struct flag {
    _Alignas(64) long planes_done;
};

static inline void wait_for(const struct flag *flag, long planes)
{
    while (__atomic_load_n(&flag->planes_done, __ATOMIC_ACQUIRE) < planes)
        ; /* no pause and no yield: programs that spin by themselves don't either */
}

static inline void post(struct flag *flag, long planes)
{
    __atomic_store_n(&flag->planes_done, planes, __ATOMIC_RELEASE);
}

#ifdef LU_RIGID

/* Rows are dealt out by thread number. A thread waits for the one before it (lower) or after it (upper). */
static void solve_rigid(int iterations)
{
    struct flag *flags = must_alloc((size_t)omp_get_max_threads(), sizeof *flags);
#pragma omp parallel
    {
        int me = omp_get_thread_num(), team = omp_get_num_threads();
        int first = side * me / team + 1, last = side * (me + 1) / team;
        for (int it = 0; it < iterations; it++) {
#pragma omp for schedule(static)
            for (int k = 1; k <= side; k++)
                residual_plane(k);
            for (int k = 1; k <= side; k++) {
                if (me > 0)
                    wait_for(&flags[me - 1], 2L * it * side + k);
                if (me < team - 1)
                    wait_for(&flags[me + 1], 2L * it * side + k - 1);
                lower_rows(k, first, last);
                post(&flags[me], 2L * it * side + k);
            }
#pragma omp barrier
            for (int done = 1; done <= side; done++) {
                if (me < team - 1)
                    wait_for(&flags[me + 1], (2L * it + 1) * side + done);
                if (me > 0)
                    wait_for(&flags[me - 1], (2L * it + 1) * side + done - 1);
                upper_rows(side + 1 - done, first, last);
                post(&flags[me], (2L * it + 1) * side + done);
            }
#pragma omp barrier
#pragma omp for schedule(static)
            for (int k = 1; k <= side; k++)
                update_plane(k);
        }
    }
    free(flags);
}

#else

/* Static loops of equal length give a block to the same thread in every plane, and a thread its blocks in
 * order, so the block before is either the same thread's or being worked on, and so is the block after in the
 * plane before: no deadlock, at any team size. */
static void lower_sweep(struct flag *flags, long before)
{
#pragma omp parallel
    for (int k = 1; k <= side; k++) {
#pragma omp for schedule(static) nowait
        for (int b = 0; b < blocks; b++) {
            if (b > 0)
                wait_for(&flags[b - 1], before + k);
            if (b < blocks - 1)
                wait_for(&flags[b + 1], before + k - 1);
            lower_rows(k, b * ROWS + 1, b * ROWS + ROWS);
            post(&flags[b], before + k);
        }
    }
}

static void upper_sweep(struct flag *flags, long before)
{
#pragma omp parallel
    for (int done = 1; done <= side; done++) {
#pragma omp for schedule(static) nowait
        for (int turn = 0; turn < blocks; turn++) {
            int b = blocks - 1 - turn;
            if (turn > 0)
                wait_for(&flags[b + 1], before + done);
            if (b > 0)
                wait_for(&flags[b - 1], before + done - 1);
            upper_rows(side + 1 - done, b * ROWS + 1, b * ROWS + ROWS);
            post(&flags[b], before + done);
        }
    }
}

static void solve_loops(int iterations)
{
    struct flag *flags = must_alloc((size_t)blocks, sizeof *flags);
    for (int it = 0; it < iterations; it++) {
#pragma omp parallel for schedule(static)
        for (int k = 1; k <= side; k++)
            residual_plane(k);
        lower_sweep(flags, 2L * it * side);
        upper_sweep(flags, (2L * it + 1) * side);
#pragma omp parallel for schedule(static)
        for (int k = 1; k <= side; k++)
            update_plane(k);
    }
    free(flags);
}

static void solve_serial(int iterations)
{
    for (int it = 0; it < iterations; it++) {
        for (int k = 1; k <= side; k++)
            residual_plane(k);
        for (int k = 1; k <= side; k++)
            lower_rows(k, 1, side);
        for (int k = side; k >= 1; k--)
            upper_rows(k, 1, side);
        for (int k = 1; k <= side; k++)
            update_plane(k);
    }
}

#endif

/* Gauss-Jordan without pivoting: `diagonal` is diagonally dominant. */
static void invert_diagonal(void)
{
    block a;
    memcpy(a, diagonal, sizeof a);
    for (int m = 0; m < VARS; m++)
        for (int l = 0; l < VARS; l++)
            inverse[m][l] = m == l;
    for (int p = 0; p < VARS; p++) {
        double pivot = a[p][p];
        for (int l = 0; l < VARS; l++) {
            a[p][l] /= pivot;
            inverse[p][l] /= pivot;
        }
        for (int m = 0; m < VARS; m++) {
            double factor = a[m][p];
            for (int l = 0; l < VARS && m != p; l++) {
                a[m][l] -= factor * a[p][l];
                inverse[m][l] -= factor * inverse[p][l];
            }
        }
    }
}

/* Blocks near those of a diffusion with a little transport and mixing: 6.4 on the diagonal, 6.3 around it. */
static void make_blocks(void)
{
    for (int m = 0; m < VARS; m++) {
        for (int l = 0; l < VARS; l++) {
            diagonal[m][l] = m == l ? 6.4 : 0.02 * ((m + 2 * l) % 5 - 2);
            for (int d = 0; d < DIRECTIONS; d++)
                coupling[d][m][l] = m == l ? -1 - 0.02 * d : 0.02 * ((3 * m + 2 * l + d) % 5 - 2);
        }
    }
    invert_diagonal();
    for (int d = 0; d < DIRECTIONS; d++)
        for (int m = 0; m < VARS; m++)
            for (int l = 0; l < VARS; l++)
                for (int x = 0; x < VARS; x++)
                    sweep_block[d][m][l] += OMEGA * inverse[m][x] * coupling[d][x][l];
}

/* load = A exact, by putting `exact` into `solution` and the negative residual into `load`. */
static void make_load(void)
{
    for (int k = 1; k <= side; k++)
        for (int j = 1; j <= side; j++)
            for (int i = 1; i <= side; i++)
                for (int m = 0; m < VARS; m++)
                    solution[cell(k, j, i) * VARS + m] = exact(m, k, j, i);
    for (int k = 1; k <= side; k++)
        residual_plane(k);
    for (ptrdiff_t x = 0; x < cell(side + 2, 0, 0) * VARS; x++)
        load[x] = -change[x];
}

/* Root mean squares of the residual and of the distance to the exact solution. */
static void judge(double *residual, double *error)
{
    double squares = 0, distance = 0;
    for (int k = 1; k <= side; k++) {
        residual_plane(k);
        for (int j = 1; j <= side; j++) {
            for (int i = 1; i <= side; i++) {
                for (int m = 0; m < VARS; m++) {
                    ptrdiff_t x = cell(k, j, i) * VARS + m;
                    double off = solution[x] - exact(m, k, j, i);
                    squares += change[x] * change[x];
                    distance += off * off;
                }
            }
        }
    }
    double points = (double)side * side * side * VARS;
    *residual = sqrt(squares / points);
    *error = sqrt(distance / points);
}

int main(int argc, char **argv)
{
#ifdef LU_RIGID
    static const char *const forms[] = {"rigid", NULL};
    static const struct program program = {"lu_rigid", "lu with a flag for each thread", forms, NULL};
    static void (*const solve[])(int) = {solve_rigid};
#else
    static const char *const forms[] = {"loops", "serial", NULL};
    static const struct program program = {"lu", "pipelined SSOR sweeps; threads spin on flags", forms, NULL};
    static void (*const solve[])(int) = {solve_loops, solve_serial};
#endif
    struct run run = begin(&program, argc, argv);
    side = SIZES[run.size].side;
    blocks = side / ROWS;
    ptrdiff_t row = side + 2, plane = row * row;
    memcpy(stride, (ptrdiff_t[]){-plane, -row, -1, plane, row, 1}, sizeof stride);
    size_t numbers = (size_t)(plane * row) * VARS;
    solution = must_alloc(numbers, sizeof(double));
    load = must_alloc(numbers, sizeof(double));
    change = must_alloc(numbers, sizeof(double));
    make_blocks();
    make_load();

    double residual = 0, error = 0;
    for (int i = 0; i < run.repeat; i++) {
        memset(solution, 0, numbers * sizeof(double));
        memset(change, 0, numbers * sizeof(double));
        double start = now();
        solve[run.form](SIZES[run.size].iterations);
        run.seconds += now() - start;
        judge(&residual, &error);
        run.verified &= close_to(residual, SIZES[run.size].residual, 1e-8);
        run.verified &= close_to(error, SIZES[run.size].error, 1e-8);
    }
    return finish(&run, "%.17g %.17g", residual, error);
}
