/*
 * MG (RNR-94-007, section 2.5): V-cycles of multigrid for a Poisson problem on a periodic cube. Memory
 * bandwidth decides on the fine grids; on the coarse ones a team has almost nothing to do, so regions of
 * milliseconds and of a microsecond alternate.
 *
 * A grid has n points a side plus one ghost on each side, as a cube of (n + 2)^3 numbers. Level l has
 * n = 2^l. Coarse point q lies on fine point 2q, in numbers that count from the ghost.
 */
#include "common.h"

#include <math.h>
#include <string.h>

enum { MOST_LEVELS = 8, CYCLES = 4, CHARGES = 10 };

static const struct {
    int levels;
    double norm; /* NPB's verification value */
} SIZES[] = {
    [CLASS_S] = {5, 0.5307707005734e-04},
    [CLASS_W] = {7, 0.6467329375339e-05},
    [CLASS_A] = {8, 0.2433365309069e-05},
};

/* Stencils, by distance: the point itself, faces, edges, corners. A's faces and S's corners weigh nothing. */
static const double A0 = -8.0 / 3, A2 = 1.0 / 6, A3 = 1.0 / 12;
static const double S0 = -3.0 / 8, S1 = 1.0 / 32, S2 = -1.0 / 64;

static double *u[MOST_LEVELS + 1], *r[MOST_LEVELS + 1], *v;
static double squares;

static inline double *line(const double *grid, int n, int k, int j)
{
    size_t side = (size_t)n + 2;
    return (double *)grid + ((size_t)k * side + (size_t)j) * side;
}

/* Sums over the four lines at face distance and the four at edge distance from line (k, j). */
static inline void neighbour_lines(const double *grid, int n, int k, int j, int length, double *face,
                                   double *edge)
{
    const double *up = line(grid, n, k + 1, j), *down = line(grid, n, k - 1, j);
    const double *north = line(grid, n, k, j + 1), *south = line(grid, n, k, j - 1);
    const double *un = line(grid, n, k + 1, j + 1), *us = line(grid, n, k + 1, j - 1);
    const double *dn = line(grid, n, k - 1, j + 1), *ds = line(grid, n, k - 1, j - 1);
    for (int i = 0; i < length; i++) {
        face[i] = south[i] + north[i] + down[i] + up[i];
        edge[i] = ds[i] + dn[i] + us[i] + un[i];
    }
}

static inline void wrap_plane(double *grid, int n, int k)
{
    for (int j = 1; j <= n; j++) {
        double *here = line(grid, n, k, j);
        here[0] = here[n];
        here[n + 1] = here[1];
    }
    memcpy(line(grid, n, k, 0), line(grid, n, k, n), (size_t)(n + 2) * sizeof(double));
    memcpy(line(grid, n, k, n + 1), line(grid, n, k, 1), (size_t)(n + 2) * sizeof(double));
}

enum { LONGEST = (1 << MOST_LEVELS) + 2 };

static inline void residual_plane(int n, int k, const double *u, const double *v, double *r)
{
    double face[LONGEST], edge[LONGEST];
    for (int j = 1; j <= n; j++) {
        neighbour_lines(u, n, k, j, n + 2, face, edge);
        const double *here = line(u, n, k, j), *right_side = line(v, n, k, j);
        double *out = line(r, n, k, j);
        for (int i = 1; i <= n; i++)
            out[i] = right_side[i] - A0 * here[i] - A2 * (edge[i] + face[i - 1] + face[i + 1]) -
                     A3 * (edge[i - 1] + edge[i + 1]);
    }
}

static inline void smooth_plane(int n, int k, const double *r, double *u)
{
    double face[LONGEST], edge[LONGEST];
    for (int j = 1; j <= n; j++) {
        neighbour_lines(r, n, k, j, n + 2, face, edge);
        const double *here = line(r, n, k, j);
        double *out = line(u, n, k, j);
        for (int i = 1; i <= n; i++)
            out[i] += S0 * here[i] + S1 * (here[i - 1] + here[i + 1] + face[i]) +
                      S2 * (edge[i] + face[i - 1] + face[i + 1]);
    }
}

static inline void restrict_plane(int n, int k, const double *fine, double *coarse)
{
    double face[LONGEST], edge[LONGEST];
    for (int j = 1; j <= n; j++) {
        neighbour_lines(fine, 2 * n, 2 * k, 2 * j, 2 * n + 2, face, edge);
        const double *here = line(fine, 2 * n, 2 * k, 2 * j);
        double *out = line(coarse, n, k, j);
        for (int i = 1; i <= n; i++) {
            int c = 2 * i;
            out[i] = 0.5 * here[c] + 0.25 * (here[c - 1] + here[c + 1] + face[c]) +
                     0.125 * (edge[c] + face[c - 1] + face[c + 1]) + 0.0625 * (edge[c - 1] + edge[c + 1]);
        }
    }
}

/* Adds the mean of four coarse lines to a fine line: at the coarse points, and between them. */
static inline void spread(int n, const double *a, const double *b, const double *c, const double *d,
                          double *out)
{
    for (int i = 0; i <= n; i++) {
        double here = a[i] + b[i] + c[i] + d[i];
        double next = a[i + 1] + b[i + 1] + c[i + 1] + d[i + 1];
        out[2 * i] += 0.25 * here;
        out[2 * i + 1] += 0.125 * (here + next);
    }
}

static inline void interpolate_plane(int n, int k, const double *coarse, double *fine)
{
    for (int j = 0; j <= n; j++) {
        const double *same = line(coarse, n, k, j), *north = line(coarse, n, k, j + 1);
        const double *up = line(coarse, n, k + 1, j), *both = line(coarse, n, k + 1, j + 1);
        spread(n, same, same, same, same, line(fine, 2 * n, 2 * k, 2 * j));
        spread(n, same, north, same, north, line(fine, 2 * n, 2 * k, 2 * j + 1));
        spread(n, same, up, same, up, line(fine, 2 * n, 2 * k + 1, 2 * j));
        spread(n, same, north, up, both, line(fine, 2 * n, 2 * k + 1, 2 * j + 1));
    }
}

static inline double squares_of_plane(int n, int k, const double *r)
{
    double sum = 0;
    for (int j = 1; j <= n; j++)
        for (int i = 1; i <= n; i++)
            sum += line(r, n, k, j)[i] * line(r, n, k, j)[i];
    return sum;
}

#define FORM_REGION 0
#include "mg_nests.h"
#undef FORM_REGION
#define FORM_REGION 1
#include "mg_nests.h"

/* v: +1 at the ten largest of n^3 random numbers, -1 at the ten smallest, else 0. */
static void place_charges(int n)
{
    struct {
        double value;
        double *at;
    } low[CHARGES], high[CHARGES];
    for (int c = 0; c < CHARGES; c++) {
        low[c].value = 1;
        high[c].value = 0;
    }
    uint64_t state = LCG_SEED;
    for (int k = 1; k <= n; k++) {
        for (int j = 1; j <= n; j++) {
            for (int i = 1; i <= n; i++) {
                double value = lcg_next(&state);
                /* Both lists are sorted, the element to beat last: insert from there. */
                for (int c = CHARGES - 1; c >= 0 && value > high[c].value; c--) {
                    if (c < CHARGES - 1)
                        high[c + 1] = high[c];
                    high[c].value = value;
                    high[c].at = &line(v, n, k, j)[i];
                }
                for (int c = CHARGES - 1; c >= 0 && value < low[c].value; c--) {
                    if (c < CHARGES - 1)
                        low[c + 1] = low[c];
                    low[c].value = value;
                    low[c].at = &line(v, n, k, j)[i];
                }
            }
        }
    }
    for (int c = 0; c < CHARGES; c++) {
        *high[c].at = 1;
        *low[c].at = -1;
    }
    for (int k = 1; k <= n; k++)
        wrap_plane(v, n, k);
    wrap_planes_loops(v, n);
}

static void solve(int form, int top, int cycles)
{
    if (form == 0) {
        solve_loops(top, cycles);
    } else {
#pragma omp parallel
        solve_region(top, cycles);
    }
}

int main(int argc, char **argv)
{
    static const char *const forms[] = {"loops", "region", NULL};
    static const struct program program = {"mg", "multigrid V-cycles (NPB MG), bandwidth-bound", forms, NULL};
    struct run run = begin(&program, argc, argv);
    int top = SIZES[run.size].levels;
    size_t n = (size_t)1 << top;
    for (int level = 1; level <= top; level++) {
        size_t side = ((size_t)1 << level) + 2;
        u[level] = must_alloc(side * side * side, sizeof(double));
        r[level] = must_alloc(side * side * side, sizeof(double));
    }
    v = must_alloc((n + 2) * (n + 2) * (n + 2), sizeof(double));
    place_charges((int)n);

    double norm = 0;
    solve(run.form, top, 1); /* as in NPB, one untimed cycle touches all pages */
    for (int i = 0; i < run.repeat; i++) {
        double start = now();
        solve(run.form, top, CYCLES);
        run.seconds += now() - start;
        norm = sqrt(squares / ((double)n * (double)n * (double)n));
        run.verified &= close_to(norm, SIZES[run.size].norm, 1e-8);
    }
    return finish(&run, "%.17g", norm);
}
