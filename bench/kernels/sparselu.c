/* LU factorisation of a sparse matrix of dense blocks by tasks, in the manner of BOTS's sparselu. Tasks of
 * three kinds and a taskwait after each kind; how many there are differs from step to step, so the load does.
 * A block is changed by one task at a time and in the same order always: results are bit-identical. */
#include "common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int blocks, points; /* blocks a side of the matrix, numbers a side of a block */
} SIZES[] = {
    [CLASS_S] = {10, 16},
    [CLASS_W] = {32, 40},
    [CLASS_A] = {48, 64},
};

static int blocks, points;

static size_t block_bytes(void)
{
    return (size_t)points * (size_t)points * sizeof(double);
}

/* A matrix is a table of blocks, NULL where it has only zeros. */
static double **slot(double **matrix, int row, int column)
{
    return &matrix[row * blocks + column];
}

static double *new_block(void)
{
    return must_alloc(1, block_bytes());
}

/* a = LU, L with a unit diagonal, both kept in a's place. No pivoting: the matrix is diagonally dominant. */
static void factorise(double *a)
{
    for (int k = 0; k < points; k++) {
        for (int i = k + 1; i < points; i++) {
            a[i * points + k] /= a[k * points + k];
            for (int j = k + 1; j < points; j++)
                a[i * points + j] -= a[i * points + k] * a[k * points + j];
        }
    }
}

/* right = L^-1 right */
static void solve_row(const double *restrict lu, double *restrict right)
{
    for (int k = 0; k < points; k++)
        for (int i = k + 1; i < points; i++)
            for (int j = 0; j < points; j++)
                right[i * points + j] -= lu[i * points + k] * right[k * points + j];
}

/* below = below U^-1 */
static void solve_column(const double *restrict lu, double *restrict below)
{
    for (int i = 0; i < points; i++) {
        double *row = below + i * points;
        for (int k = 0; k < points; k++) {
            row[k] /= lu[k * points + k];
            for (int j = k + 1; j < points; j++)
                row[j] -= row[k] * lu[k * points + j];
        }
    }
}

/* inner -= below right */
static void update(const double *restrict below, const double *restrict right, double *restrict inner)
{
    for (int i = 0; i < points; i++)
        for (int k = 0; k < points; k++)
            for (int j = 0; j < points; j++)
                inner[i * points + j] -= below[i * points + k] * right[k * points + j];
}

static void update_slot(double **matrix, int row, int column, int step)
{
    double **inner = slot(matrix, row, column);
    if (!*inner)
        *inner = new_block();
    update(*slot(matrix, row, step), *slot(matrix, step, column), *inner);
}

static void factorise_matrix(double **matrix)
{
    for (int step = 0; step < blocks; step++) {
        double *corner = *slot(matrix, step, step);
        factorise(corner);
        for (int x = step + 1; x < blocks; x++) {
            if (*slot(matrix, step, x)) {
#pragma omp task firstprivate(x, step)
                solve_row(corner, *slot(matrix, step, x));
            }
            if (*slot(matrix, x, step)) {
#pragma omp task firstprivate(x, step)
                solve_column(corner, *slot(matrix, x, step));
            }
        }
#pragma omp taskwait
        for (int row = step + 1; row < blocks; row++) {
            for (int column = step + 1; column < blocks; column++) {
                if (*slot(matrix, row, step) && *slot(matrix, step, column)) {
#pragma omp task firstprivate(row, column, step)
                    update_slot(matrix, row, column, step);
                }
            }
        }
#pragma omp taskwait
    }
}

/* Random blocks on the diagonal, beside it, and at about a fifth of the other places. */
static double **make_matrix(void)
{
    double **matrix = must_alloc((size_t)(blocks * blocks), sizeof *matrix);
    uint64_t state = LCG_SEED;
    for (int row = 0; row < blocks; row++) {
        for (int column = 0; column < blocks; column++) {
            if (abs(row - column) > 1 && lcg_next(&state) > 0.2)
                continue;
            double *block = *slot(matrix, row, column) = new_block();
            for (int i = 0; i < points * points; i++)
                block[i] = lcg_next(&state) - 0.5;
            for (int i = 0; i < points && row == column; i++)
                block[i * points + i] += blocks * points;
        }
    }
    return matrix;
}

static void copy_matrix(double **to, double **from)
{
    for (int i = 0; i < blocks * blocks; i++) {
        free(to[i]);
        to[i] = from[i] ? memcpy(new_block(), from[i], block_bytes()) : NULL;
    }
}

enum part { WHOLE, UPPER, UNIT_LOWER };

/* out = matrix in, or only with its upper triangle, or with its lower triangle and a unit diagonal. */
static void multiply(double **matrix, enum part part, const double *in, double *out)
{
    for (int row = 0; row < blocks * points; row++) {
        out[row] = part == UNIT_LOWER ? in[row] : 0;
        for (int column = 0; column < blocks * points; column++) {
            const double *block = *slot(matrix, row / points, column / points);
            if (block && (part == WHOLE || (part == UPPER ? column >= row : column < row)))
                out[row] += block[row % points * points + column % points] * in[column];
        }
    }
}

/* Whether L (U x) equals A x for a vector x, to rounding. */
static bool is_factor(double **factored, double **original)
{
    int n = blocks * points;
    double *work = must_alloc((size_t)(4 * n), sizeof *work);
    double *x = work, *ux = work + n, *lux = ux + n, *ax = lux + n;
    for (int i = 0; i < n; i++)
        x[i] = 1 + (double)(i % 7) / 8;
    multiply(factored, UPPER, x, ux);
    multiply(factored, UNIT_LOWER, ux, lux);
    multiply(original, WHOLE, x, ax);
    bool right = true;
    for (int i = 0; i < n; i++)
        right &= close_to(lux[i], ax[i], 1e-11);
    free(work);
    return right;
}

static double sum_of(double **matrix)
{
    double sum = 0;
    for (int i = 0; i < blocks * blocks; i++)
        for (int k = 0; matrix[i] && k < points * points; k++)
            sum += fabs(matrix[i][k]);
    return sum;
}

int main(int argc, char **argv)
{
    static const char *const forms[] = {"tasks", NULL};
    static const struct program program = {"sparselu", "LU of a sparse blocked matrix by tasks", forms, NULL};
    struct run run = begin(&program, argc, argv);
    blocks = SIZES[run.size].blocks;
    points = SIZES[run.size].points;
    double **original = make_matrix();
    double **factored = must_alloc((size_t)(blocks * blocks), sizeof *factored);
    for (int i = 0; i < run.repeat; i++) {
        copy_matrix(factored, original);
        double start = now();
#pragma omp parallel
#pragma omp single
        factorise_matrix(factored);
        run.seconds += now() - start;
    }
    run.verified = is_factor(factored, original);
    return finish(&run, "%.17g", sum_of(factored));
}
