/* The parallel loop nests of mg.c, read once for each form; see nest.h. Each nest runs over the planes of the
 * slowest dimension. Inside the planes, mg.c's inline functions do the work. */
#include "nest.h"

/* The periodic neighbours of the first and last plane; a plane's own edges are already wrapped. */
static void FORMED(wrap_planes)(double *grid, int n)
{
    NEST
    for (int j = 0; j < n + 2; j++) {
        memcpy(line(grid, n, 0, j), line(grid, n, n, j), (size_t)(n + 2) * sizeof(double));
        memcpy(line(grid, n, n + 1, j), line(grid, n, 1, j), (size_t)(n + 2) * sizeof(double));
    }
}

/* r = v - A u. `r` may be `v`. */
static void FORMED(residual)(int n, const double *u, const double *v, double *r)
{
    NEST
    for (int k = 1; k <= n; k++) {
        residual_plane(n, k, u, v, r);
        wrap_plane(r, n, k);
    }
    FORMED(wrap_planes)(r, n);
}

/* u += S r */
static void FORMED(smooth)(int n, const double *r, double *u)
{
    NEST
    for (int k = 1; k <= n; k++) {
        smooth_plane(n, k, r, u);
        wrap_plane(u, n, k);
    }
    FORMED(wrap_planes)(u, n);
}

/* coarse = P fine, where the coarse grid has n points a side */
static void FORMED(restrict_to)(int n, const double *fine, double *coarse)
{
    NEST
    for (int k = 1; k <= n; k++) {
        restrict_plane(n, k, fine, coarse);
        wrap_plane(coarse, n, k);
    }
    FORMED(wrap_planes)(coarse, n);
}

/* fine += Q coarse, where the coarse grid has n points a side. A coarse plane feeds two fine ones. */
static void FORMED(interpolate)(int n, const double *coarse, double *fine)
{
    NEST
    for (int k = 0; k <= n; k++)
        interpolate_plane(n, k, coarse, fine);
}

static void FORMED(clear)(int n, double *grid)
{
    NEST
    for (int k = 0; k < n + 2; k++)
        memset(line(grid, n, k, 0), 0, (size_t)(n + 2) * (size_t)(n + 2) * sizeof(double));
}

/* The sum of squares of the residual, into `squares`. */
static void FORMED(norm)(int n, const double *r)
{
    ONCE
    squares = 0;
    NEST_SUM(squares)
    for (int k = 1; k <= n; k++)
        squares += squares_of_plane(n, k, r);
}

/* u += M r, one V-cycle down to the grid of two points a side; then r = v - A u. */
static void FORMED(v_cycle)(int top)
{
    for (int level = top; level > 1; level--)
        FORMED(restrict_to)(1 << (level - 1), r[level], r[level - 1]);
    FORMED(clear)(2, u[1]);
    FORMED(smooth)(2, r[1], u[1]);
    for (int level = 2; level < top; level++) {
        FORMED(clear)(1 << level, u[level]);
        FORMED(interpolate)(1 << (level - 1), u[level - 1], u[level]);
        FORMED(residual)(1 << level, u[level], r[level], r[level]);
        FORMED(smooth)(1 << level, r[level], u[level]);
    }
    FORMED(interpolate)(1 << (top - 1), u[top - 1], u[top]);
    FORMED(residual)(1 << top, u[top], v, r[top]);
    FORMED(smooth)(1 << top, r[top], u[top]);
    FORMED(residual)(1 << top, u[top], v, r[top]);
}

static void FORMED(solve)(int top, int cycles)
{
    FORMED(clear)(1 << top, u[top]);
    FORMED(residual)(1 << top, u[top], v, r[top]);
    for (int cycle = 0; cycle < cycles; cycle++)
        FORMED(v_cycle)(top);
    FORMED(norm)(1 << top, r[top]);
}
