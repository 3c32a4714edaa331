/* CG (RNR-94-007, section 2.4): the inverse power method on a random sparse symmetric matrix, with conjugate
 * gradients as the solver. Irregular reads, and three short loop nests a step: a program whose regions last
 * tens of microseconds in class S and about a millisecond in class A. */
#include "common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CG_STEPS = 25, POWER_STEPS = 15, MOST_NONZEROS = 16 };
#define CONDITION 0.1

static const struct {
    int order, nonzeros;
    double shift, zeta; /* zeta: NPB's verification value */
} SIZES[] = {
    [CLASS_S] = {1400, 7, 10, 8.5971775078648},
    [CLASS_W] = {7000, 8, 12, 10.362595087124},
    [CLASS_A] = {14000, 11, 20, 17.130235054029},
};

/* The matrix, by compressed rows: row i is entries first[i] to first[i + 1] - 1. */
static int n;
static int *first, *column;
static double *entry;

static double *x, *z, *p, *q, *r;
static double rho, rho_old, p_dot_q, alpha, residual, x_dot_z, z_dot_z;

static inline double row_times(int i, const double *restrict v)
{
    double sum = 0;
    for (int k = first[i]; k < first[i + 1]; k++)
        sum += entry[k] * v[column[k]];
    return sum;
}

#define FORM_REGION 0
#include "cg_nests.h"
#undef FORM_REGION
#define FORM_REGION 1
#include "cg_nests.h"

/* A sparse vector with up to `nonzeros` random elements, and element `own` set to one half. */
struct sparse {
    int count;
    int at[MOST_NONZEROS];
    double value[MOST_NONZEROS];
};

static int find(const struct sparse *v, int at)
{
    int k = 0;
    while (k < v->count && v->at[k] != at)
        k++;
    return k;
}

static struct sparse random_vector(uint64_t *state, int nonzeros, int own)
{
    struct sparse v = {0};
    int power_of_two = 1;
    while (power_of_two < n)
        power_of_two *= 2;
    while (v.count < nonzeros) {
        double value = lcg_next(state);
        int at = (int)(power_of_two * lcg_next(state));
        if (at < n && find(&v, at) == v.count) {
            v.at[v.count] = at;
            v.value[v.count++] = value;
        }
    }
    int k = find(&v, own);
    v.at[k] = own;
    v.value[k] = 0.5;
    v.count += k == v.count;
    return v;
}

struct cell {
    int column;
    double value;
};

static int by_column(const void *a, const void *b)
{
    const struct cell *left = a, *right = b;
    return (left->column > right->column) - (left->column < right->column);
}

/* Sorts a row's cells, adds up those of one column, and returns how many are left. */
static int merge_row(struct cell *cells, int count)
{
    qsort(cells, (size_t)count, sizeof *cells, by_column);
    int kept = 0;
    for (int k = 0; k < count; k++) {
        if (kept > 0 && cells[kept - 1].column == cells[k].column)
            cells[kept - 1].value += cells[k].value;
        else
            cells[kept++] = cells[k];
    }
    return kept;
}

/* A = sum over i of w_i v_i v_i^T, w from 1 down to 0.1 in a geometric series, plus (0.1 - shift) I. */
static void make_matrix(int nonzeros, double shift, uint64_t *state)
{
    struct sparse *v = must_alloc((size_t)n, sizeof *v);
    int *end = must_alloc((size_t)n + 1, sizeof *end); /* end[i]: where row i's next cell goes */
    for (int i = 0; i < n; i++) {
        v[i] = random_vector(state, nonzeros, i);
        for (int k = 0; k < v[i].count; k++)
            end[v[i].at[k] + 1] += v[i].count;
    }
    for (int i = 0; i < n; i++)
        end[i + 1] += end[i];
    struct cell *cells = must_alloc((size_t)end[n], sizeof *cells);
    int *begin_of = must_alloc((size_t)n + 1, sizeof *begin_of);
    memcpy(begin_of, end, ((size_t)n + 1) * sizeof *end);

    double weight = 1, ratio = pow(CONDITION, 1.0 / n);
    for (int i = 0; i < n; i++, weight *= ratio) {
        for (int a = 0; a < v[i].count; a++) {
            for (int b = 0; b < v[i].count; b++) {
                double value = v[i].value[b] * (weight * v[i].value[a]);
                if (v[i].at[a] == i && v[i].at[b] == i)
                    value += CONDITION - shift;
                cells[end[v[i].at[a]]++] = (struct cell){v[i].at[b], value};
            }
        }
    }

    first = must_alloc((size_t)n + 1, sizeof *first);
    column = must_alloc((size_t)begin_of[n], sizeof *column);
    entry = must_alloc((size_t)begin_of[n], sizeof *entry);
    for (int i = 0; i < n; i++) {
        struct cell *row = cells + begin_of[i];
        int kept = merge_row(row, end[i] - begin_of[i]);
        for (int k = 0; k < kept; k++) {
            column[first[i] + k] = row[k].column;
            entry[first[i] + k] = row[k].value;
        }
        first[i + 1] = first[i] + kept;
    }
    free(v);
    free(end);
    free(begin_of);
    free(cells);
}

static void power_method(int form, int steps)
{
    if (form == 0) {
        for (int step = 0; step < steps; step++)
            power_step_loops();
    } else {
#pragma omp parallel
        for (int step = 0; step < steps; step++)
            power_step_region();
    }
}

int main(int argc, char **argv)
{
    static const char *const forms[] = {"loops", "region", NULL};
    static const char help[] = "sparse eigenvalue by conjugate gradients (NPB CG)";
    static const struct program program = {"cg", help, forms, NULL};
    struct run run = begin(&program, argc, argv);
    n = SIZES[run.size].order;
    uint64_t state = LCG_SEED;
    lcg_next(&state); /* NPB draws one number before the matrix */
    make_matrix(SIZES[run.size].nonzeros, SIZES[run.size].shift, &state);
    double **vectors[] = {&x, &z, &p, &q, &r};
    for (int i = 0; i < 5; i++)
        *vectors[i] = must_alloc((size_t)n, sizeof(double));

    double zeta = 0;
    for (int i = 0; i < run.repeat; i++) {
        for (int warm = 1; warm >= 0; warm--) { /* as in NPB, one untimed step touches all pages first */
            for (int k = 0; k < n; k++)
                x[k] = 1;
            double start = now();
            power_method(run.form, warm ? 1 : POWER_STEPS);
            run.seconds += warm ? 0 : now() - start;
        }
        zeta = SIZES[run.size].shift + 1 / x_dot_z;
        run.verified &= close_to(zeta, SIZES[run.size].zeta, 1e-10);
    }
    return finish(&run, "%.17g", zeta);
}
