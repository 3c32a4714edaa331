/*
 * FT (RNR-94-007, section 2.6): a diffusion equation solved in the frequency domain by 3-D Fourier
 * transforms. Long regions with much arithmetic, and strided reads of the whole field along z.
 *
 * A 1-D transform is Stockham's (radix 2, no bit reversal) over LANES lines at once, copied to a scratch
 * area of at most 64 KB so that strides cost a cache line for each four numbers, not for each one.
 */
#include "common.h"

#include <math.h>

enum { LANES = 8, LONGEST = 256, STEPS = 6 };
#define ALPHA 1e-6

struct complex {
    double re, im;
};

static const struct {
    int nx, ny, nz;
    struct complex checksum[STEPS]; /* NPB's verification values */
} SIZES[] = {
    [CLASS_S] = {64, 64, 64,
                 {{5.546087004964E+02, 4.845363331978E+02}, {5.546385409189E+02, 4.865304269511E+02},
                  {5.546148406171E+02, 4.883910722336E+02}, {5.545423607415E+02, 4.901273169046E+02},
                  {5.544255039624E+02, 4.917475857993E+02}, {5.542683411902E+02, 4.932597244941E+02}}},
    [CLASS_W] = {128, 128, 32,
                 {{5.673612178944E+02, 5.293246849175E+02}, {5.631436885271E+02, 5.282149986629E+02},
                  {5.594024089970E+02, 5.270996558037E+02}, {5.560698047020E+02, 5.260027904925E+02},
                  {5.530898991250E+02, 5.249400845633E+02}, {5.504159734538E+02, 5.239212247086E+02}}},
    [CLASS_A] = {256, 256, 128,
                 {{5.046735008193E+02, 5.114047905510E+02}, {5.059412319734E+02, 5.098809666433E+02},
                  {5.069376896287E+02, 5.098144042213E+02}, {5.077892868474E+02, 5.101336130759E+02},
                  {5.085233095391E+02, 5.104914655194E+02}, {5.091487099959E+02, 5.107917842803E+02}}},
};

static int nx, ny, nz;
static size_t plane; /* points in a plane of constant z */
static struct complex *spectrum, *field;
static double *decay;
static struct complex root[LONGEST]; /* exp(2 pi i k / LONGEST) */

static double checksum_re, checksum_im;
static struct complex checksum[STEPS];

/* The factor of wave number (x, y, z), where the upper half of each axis stands for negative numbers. */
static inline double decay_at(int x, int y, int z)
{
    int kx = x < nx / 2 ? x : x - nx, ky = y < ny / 2 ? y : y - ny, kz = z < nz / 2 ? z : z - nz;
    return exp(-4 * ALPHA * M_PI * M_PI * (kx * kx + ky * ky + kz * kz));
}

/* One radix-2 stage: pairs half the length apart become pairs `width` apart, `width` doubling each stage. */
static inline void stage(int n, int width, int sign, const double *re, const double *im, double *to_re,
                         double *to_im)
{
    int half = n / 2 * LANES, run = width * LANES;
    for (int j = 0; j < n / 2 / width; j++) {
        double wr = root[j * width * (LONGEST / n)].re, wi = sign * root[j * width * (LONGEST / n)].im;
        const double *ar = re + j * run, *ai = im + j * run;
        double *cr = to_re + 2 * j * run, *ci = to_im + 2 * j * run;
        for (int k = 0; k < run; k++) {
            double dr = ar[k] - ar[k + half], di = ai[k] - ai[k + half];
            cr[k] = ar[k] + ar[k + half];
            ci[k] = ai[k] + ai[k + half];
            cr[k + run] = dr * wr - di * wi;
            ci[k + run] = dr * wi + di * wr;
        }
    }
}

/* Transforms LANES lines of n points. Points of a line lie `step` apart, lines `lane_step` apart. */
static void transform_lanes(struct complex *line, int n, size_t step, size_t lane_step, int sign)
{
    double re[2][LONGEST * LANES], im[2][LONGEST * LANES];
    for (int i = 0; i < n; i++) {
        for (int lane = 0; lane < LANES; lane++) {
            struct complex c = line[(size_t)i * step + (size_t)lane * lane_step];
            re[0][i * LANES + lane] = c.re;
            im[0][i * LANES + lane] = c.im;
        }
    }
    int from = 0;
    for (int width = 1; width < n; width *= 2, from = !from)
        stage(n, width, sign, re[from], im[from], re[!from], im[!from]);
    for (int i = 0; i < n; i++)
        for (int lane = 0; lane < LANES; lane++)
            line[(size_t)i * step + (size_t)lane * lane_step] =
                (struct complex){re[from][i * LANES + lane], im[from][i * LANES + lane]};
}

static void keep_checksum(int step)
{
    double points = (double)plane * nz;
    checksum[step] = (struct complex){checksum_re / points, checksum_im / points};
}

#define FORM_REGION 0
#include "ft_nests.h"
#undef FORM_REGION
#define FORM_REGION 1
#include "ft_nests.h"

static void solve(int form, int steps)
{
    if (form == 0) {
        solve_loops(steps);
    } else {
#pragma omp parallel
        solve_region(steps);
    }
}

/* NPB's test: the relative error of the complex number, at most 1e-12. */
static bool complex_close(struct complex got, struct complex want)
{
    return hypot(got.re - want.re, got.im - want.im) <= 1e-12 * hypot(want.re, want.im);
}

int main(int argc, char **argv)
{
    static const char *const forms[] = {"loops", "region", NULL};
    static const struct program program = {"ft", "3-D Fourier transforms (NPB FT)", forms, NULL};
    struct run run = begin(&program, argc, argv);
    nx = SIZES[run.size].nx;
    ny = SIZES[run.size].ny;
    nz = SIZES[run.size].nz;
    plane = (size_t)nx * (size_t)ny;
    spectrum = must_alloc(plane * (size_t)nz, sizeof *spectrum);
    field = must_alloc(plane * (size_t)nz, sizeof *field);
    decay = must_alloc(plane * (size_t)nz, sizeof *decay);
    for (int k = 0; k < LONGEST; k++)
        root[k] = (struct complex){cos(2 * M_PI * k / LONGEST), sin(2 * M_PI * k / LONGEST)};

    solve(run.form, 1); /* as in NPB, one untimed step touches all pages */
    for (int i = 0; i < run.repeat; i++) {
        double start = now();
        solve(run.form, STEPS);
        run.seconds += now() - start;
        for (int step = 0; step < STEPS; step++)
            run.verified &= complex_close(checksum[step], SIZES[run.size].checksum[step]);
    }
    return finish(&run, "%.17g %.17g", checksum[STEPS - 1].re, checksum[STEPS - 1].im);
}
