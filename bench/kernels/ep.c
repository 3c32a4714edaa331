/* EP, "embarrassingly parallel" (RNR-94-007, section 2.3): Gaussian pairs by the polar method, counted in
 * square annuli. Scales perfectly; the yardstick for what a DoP can give. */
#include "common.h"

#include <math.h>

/* Pairs a batch: NPB's 2^16. A batch takes about 1.5 ms. */
enum { LOG_BATCH = 16, BATCH = 1 << LOG_BATCH, ANNULI = 10 };
#define EP_SEED UINT64_C(271828183)

/* In the loops form the batches are cut into this many regions, so that the team can change size often. */
enum { REGIONS = 64 };

static const struct {
    int log_pairs;
    double sx, sy; /* NPB's verification values */
} SIZES[] = {
    [CLASS_S] = {24, -3.247834652034740e+3, -6.958407078382297e+3},
    [CLASS_W] = {25, -2.863319731645753e+3, -6.320053679109499e+3},
    [CLASS_A] = {28, -4.295875165629892e+3, -1.580732573678431e+4},
};

struct tally {
    double sx, sy;
    double annulus[ANNULI];
};

static void run_batch(int batch, struct tally *tally)
{
    uint64_t state = lcg_jump(EP_SEED, 2 * (uint64_t)batch * BATCH);
    for (int i = 0; i < BATCH; i++) {
        double x = 2 * lcg_next(&state) - 1;
        double y = 2 * lcg_next(&state) - 1;
        double t = x * x + y * y;
        if (t > 1)
            continue;
        double factor = sqrt(-2 * log(t) / t);
        double gx = x * factor, gy = y * factor;
        tally->annulus[(int)fmax(fabs(gx), fabs(gy))] += 1;
        tally->sx += gx;
        tally->sy += gy;
    }
}

static void add(struct tally *to, const struct tally *from)
{
    to->sx += from->sx;
    to->sy += from->sy;
    for (int i = 0; i < ANNULI; i++)
        to->annulus[i] += from->annulus[i];
}

#pragma omp declare reduction(add_tally : struct tally : add(&omp_out, &omp_in)) \
    initializer(omp_priv = (struct tally){0})

static struct tally in_one_region(int batches)
{
    struct tally total = {0};
#pragma omp parallel for schedule(static) reduction(add_tally : total)
    for (int batch = 0; batch < batches; batch++)
        run_batch(batch, &total);
    return total;
}

static struct tally in_many_regions(int batches)
{
    struct tally total = {0};
    for (int region = 0; region < REGIONS; region++) {
        int begin = batches / REGIONS * region, end = batches / REGIONS * (region + 1);
#pragma omp parallel for schedule(dynamic) reduction(add_tally : total)
        for (int batch = begin; batch < end; batch++)
            run_batch(batch, &total);
    }
    return total;
}

int main(int argc, char **argv)
{
    static const char *const forms[] = {"loops", "region", NULL};
    static const struct program program = {"ep", "Gaussian pairs (NPB EP), perfectly parallel", forms, NULL};
    struct run run = begin(&program, argc, argv);
    int batches = 1 << (SIZES[run.size].log_pairs - LOG_BATCH);
    struct tally total = {0};
    for (int i = 0; i < run.repeat; i++) {
        double start = now();
        total = run.form == 0 ? in_many_regions(batches) : in_one_region(batches);
        run.seconds += now() - start;
        run.verified &= close_to(total.sx, SIZES[run.size].sx, 1e-8);
        run.verified &= close_to(total.sy, SIZES[run.size].sy, 1e-8);
    }
    return finish(&run, "%.17g %.17g", total.sx, total.sy);
}
