/*
 * Zones, after NPB-MZ (NAS-03-010): a field on a torus, cut into zones of unequal width, dealt out to the
 * processes of an MPI job row by row, without balancing. In each step a process solves its zones one after
 * the other, each by parallel loops, and then exchanges edges with its neighbours; so whoever has the wide
 * rows is waited for. As in BT-MZ the largest zone has some 20 times the points of the smallest; with
 * --zones=equal, as in SP-MZ, all have the same.
 *
 * The solver is our own: along each direction in turn, implicit lines with constant coefficients (the Thomas
 * algorithm). A zone's values depend on no other thing than its edges, so the result is the same, to the
 * bit, for any number of processes and threads.
 */
#include "common.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 4, COLUMNS = 4, ZONES = ROWS * COLUMNS, UNEQUAL = 0, EQUAL = 1 };

static const struct {
    int width, depth, steps; /* points a side of the whole field, points of depth, steps */
    double norm[2];          /* for zones unequal and equal: our own values, by one process of one thread */
} SIZES[] = {
    [CLASS_S] = {48, 4, 20, {704.72099939238683, 617.47575228472215}},
    [CLASS_W] = {96, 12, 60, {25279.666996822998, 23142.417762048648}},
    [CLASS_A] = {192, 16, 120, {150380.30652628545, 146934.70285577909}},
};

static const double COUPLING = 0.3, MIXING = 0.2;

struct zone {
    int nx, ny, owner;
    double *u, *rhs; /* (nz) x (ny + 2) x (nx + 2), with ghosts in x and y */
    double *edge[4], *ghost[4];
};

enum side { WEST, EAST, SOUTH, NORTH };

static struct zone zones[ZONES];
static int nz, rank, ranks;

static inline double *point(const struct zone *zone, double *of, int k, int j, int i)
{
    return of + ((size_t)k * (size_t)(zone->ny + 2) + (size_t)j) * (size_t)(zone->nx + 2) + (size_t)i;
}

/* Cuts `width` points into widths that grow by the same factor, so that two zones' areas differ 20 times. */
static void cut(int width, int parts, int *widths, bool equal)
{
    double factor = equal ? 1 : pow(20, 0.5 / (parts - 1)), sum = 0, share = 1;
    for (int part = 0; part < parts; part++, share *= factor)
        sum += share;
    int left = width;
    share = width / sum;
    for (int part = 0; part < parts - 1; part++, share *= factor) {
        widths[part] = (int)(share + 0.5);
        left -= widths[part];
    }
    widths[parts - 1] = left;
}

static int neighbour(int zone, enum side side)
{
    int row = zone / COLUMNS, column = zone % COLUMNS;
    switch (side) {
    case WEST:
        column = (column + COLUMNS - 1) % COLUMNS;
        break;
    case EAST:
        column = (column + 1) % COLUMNS;
        break;
    case SOUTH:
        row = (row + ROWS - 1) % ROWS;
        break;
    default:
        row = (row + 1) % ROWS;
    }
    return row * COLUMNS + column;
}

static size_t edge_points(const struct zone *zone, enum side side)
{
    return (size_t)nz * (size_t)(side == WEST || side == EAST ? zone->ny : zone->nx);
}

static void make_zones(int width, bool equal)
{
    int heights[ROWS], widths[COLUMNS];
    cut(width, ROWS, heights, equal);
    cut(width, COLUMNS, widths, equal);
    for (int number = 0; number < ZONES; number++) {
        struct zone *zone = &zones[number];
        zone->nx = widths[number % COLUMNS];
        zone->ny = heights[number / COLUMNS];
        zone->owner = number * ranks / ZONES;
    }
    for (int number = 0; number < ZONES; number++) {
        struct zone *zone = &zones[number];
        if (zone->owner != rank)
            continue;
        size_t points = (size_t)nz * (size_t)(zone->ny + 2) * (size_t)(zone->nx + 2);
        zone->u = must_alloc(points, sizeof(double));
        zone->rhs = must_alloc(points, sizeof(double));
        for (enum side side = WEST; side <= NORTH; side++) {
            zone->edge[side] = must_alloc(edge_points(zone, side), sizeof(double));
            zone->ghost[side] = must_alloc(edge_points(zone, side), sizeof(double));
        }
    }
}

/* A field that anybody can make: random numbers, from a state of the zone's own. */
static void fill(void)
{
    for (int number = 0; number < ZONES; number++) {
        struct zone *zone = &zones[number];
        if (zone->owner != rank)
            continue;
        uint64_t state = lcg_jump(LCG_SEED, (uint64_t)number << 24);
        for (int k = 0; k < nz; k++)
            for (int j = 1; j <= zone->ny; j++)
                for (int i = 1; i <= zone->nx; i++)
                    *point(zone, zone->u, k, j, i) = lcg_next(&state);
    }
}

static void copy_edge(struct zone *zone, enum side side, bool out)
{
    double *flat = out ? zone->edge[side] : zone->ghost[side];
    bool along_y = side == WEST || side == EAST;
    int length = along_y ? zone->ny : zone->nx, last = along_y ? zone->nx : zone->ny;
    int at = side == WEST || side == SOUTH ? (out ? 1 : 0) : (out ? last : last + 1);
    for (int k = 0; k < nz; k++)
        for (int along = 1; along <= length; along++) {
            double *cell = along_y ? point(zone, zone->u, k, along, at) : point(zone, zone->u, k, at, along);
            if (out)
                *flat++ = *cell;
            else
                *cell = *flat++;
        }
}

static void exchange(void)
{
    static const enum side opposite[] = {[WEST] = EAST, [EAST] = WEST, [SOUTH] = NORTH, [NORTH] = SOUTH};
    MPI_Request requests[2 * 4 * ZONES];
    MPI_Status statuses[2 * 4 * ZONES];
    int count = 0;
    for (int number = 0; number < ZONES; number++) {
        struct zone *zone = &zones[number];
        if (zone->owner != rank)
            continue;
        for (enum side side = WEST; side <= NORTH; side++) {
            int other = neighbour(number, side), points = (int)edge_points(zone, side);
            copy_edge(zone, side, true);
            MPI_Irecv(zone->ghost[side], points, MPI_DOUBLE, zones[other].owner,
                      other * 4 + (int)opposite[side], MPI_COMM_WORLD, &requests[count++]);
            MPI_Isend(zone->edge[side], points, MPI_DOUBLE, zones[other].owner, number * 4 + (int)side,
                      MPI_COMM_WORLD, &requests[count++]);
        }
    }
    MPI_Waitall(count, requests, statuses);
    for (int number = 0; number < ZONES; number++)
        if (zones[number].owner == rank)
            for (enum side side = WEST; side <= NORTH; side++)
                copy_edge(&zones[number], side, false);
}

/* Solves (-c, 1 + 2c, -c) x = d in place, along `count` points that lie `stride` apart. */
static inline void solve_line(double *d, int count, size_t stride, double *factors)
{
    const double diagonal = 1 + 2 * COUPLING;
    double factor = factors[0] = -COUPLING / diagonal;
    d[0] /= diagonal;
    for (int i = 1; i < count; i++) {
        double pivot = 1 / (diagonal + COUPLING * factor);
        d[(size_t)i * stride] = (d[(size_t)i * stride] + COUPLING * d[(size_t)(i - 1) * stride]) * pivot;
        factor = factors[i] = -COUPLING * pivot;
    }
    for (int i = count - 2; i >= 0; i--)
        d[(size_t)i * stride] -= factors[i] * d[(size_t)(i + 1) * stride];
}

enum { LONGEST = 192 };

static void solve_zone(struct zone *zone)
{
    size_t row = (size_t)zone->nx + 2, plane = row * ((size_t)zone->ny + 2);
#pragma omp parallel for
    for (int j = 1; j <= zone->ny; j++)
        for (int k = 0; k < nz; k++)
            for (int i = 1; i <= zone->nx; i++) {
                const double *u = point(zone, zone->u, k, j, i);
                double around = u[-1] + u[1] + u[-(ptrdiff_t)row] + u[row];
                *point(zone, zone->rhs, k, j, i) = u[0] + MIXING * (around - 4 * u[0]) / (1 + u[0] * u[0]);
            }
#pragma omp parallel for
    for (int j = 1; j <= zone->ny; j++) {
        double factors[LONGEST];
        for (int k = 0; k < nz; k++)
            solve_line(point(zone, zone->rhs, k, j, 1), zone->nx, 1, factors);
    }
#pragma omp parallel for
    for (int i = 1; i <= zone->nx; i++) {
        double factors[LONGEST];
        for (int k = 0; k < nz; k++)
            solve_line(point(zone, zone->rhs, k, 1, i), zone->ny, row, factors);
    }
#pragma omp parallel for
    for (int j = 1; j <= zone->ny; j++) {
        double factors[LONGEST];
        for (int i = 1; i <= zone->nx; i++) {
            solve_line(point(zone, zone->rhs, 0, j, i), nz, plane, factors);
            for (int k = 0; k < nz; k++)
                *point(zone, zone->u, k, j, i) = *point(zone, zone->rhs, k, j, i);
        }
    }
}

/* The sum over all points of (1 + |x - y| of their zone) times their value, in an order of its own. */
static double norm(void)
{
    double sums[ZONES] = {0}, all[ZONES], total = 0;
    for (int number = 0; number < ZONES; number++) {
        struct zone *zone = &zones[number];
        if (zone->owner != rank)
            continue;
        for (int k = 0; k < nz; k++)
            for (int j = 1; j <= zone->ny; j++)
                for (int i = 1; i <= zone->nx; i++)
                    sums[number] += *point(zone, zone->u, k, j, i) * (1 + (i ^ j) % 7);
    }
    /* Each sum is one process's and 0 elsewhere, so adding them up changes no digit. */
    MPI_Allreduce(sums, all, ZONES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int number = 0; number < ZONES; number++)
        total += all[number];
    return total;
}

int main(int argc, char **argv)
{
    static const char *const forms[] = {"loops", NULL};
    static const char *const words[] = {"unequal", "equal", NULL};
    static int shape = UNEQUAL;
    static const struct knob knobs[] = {
        {.name = "zones", .help = "widths of the zones", .choice = &shape, .words = words}, {0}};
    static const struct program program = {"zones", "an MPI job on zones (after NPB-MZ)", forms, knobs};
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct run run = begin(&program, argc, argv);
    nz = SIZES[run.size].depth;
    make_zones(SIZES[run.size].width, shape == EQUAL);

    double value = 0;
    for (int i = 0; i < run.repeat; i++) {
        fill();
        exchange();
        MPI_Barrier(MPI_COMM_WORLD);
        double start = now();
        for (int step = 0; step < SIZES[run.size].steps; step++) {
            for (int number = 0; number < ZONES; number++)
                if (zones[number].owner == rank)
                    solve_zone(&zones[number]);
            exchange();
        }
        value = norm();
        run.seconds += now() - start;
        run.verified &= close_to(value, SIZES[run.size].norm[shape], 1e-12);
    }
    int status = rank == 0 ? finish(&run, "%.17g", value) : 0;
    MPI_Finalize();
    return status;
}
