/* The parallel loop nests of ft.c, read once for each form; see nest.h. Transforms along x and y share out
 * the planes of z; those along z share out the rows of y, and so touch every plane: FT's transposition. */
#include "nest.h"

/* A random field in `spectrum`. Each plane jumps to its own place in the random sequence. */
static void FORMED(randomise)(void)
{
    NEST
    for (int z = 0; z < nz; z++) {
        uint64_t state = lcg_jump(LCG_SEED, 2 * (uint64_t)z * (uint64_t)plane);
        for (size_t i = 0; i < plane; i++) {
            spectrum[(size_t)z * plane + i].re = lcg_next(&state);
            spectrum[(size_t)z * plane + i].im = lcg_next(&state);
        }
    }
}

/* decay = exp(-4 alpha pi^2 |k|^2), one time step's factor for each wave number. */
static void FORMED(fill_decay)(void)
{
    NEST
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++)
                decay[(size_t)z * plane + (size_t)y * (size_t)nx + (size_t)x] = decay_at(x, y, z);
}

/* Transforms `field` in place along the three axes. `sign` is +1 or -1, in the exponent. */
static void FORMED(transform)(struct complex *field, int sign)
{
    NEST
    for (int z = 0; z < nz; z++) {
        struct complex *here = field + (size_t)z * plane;
        for (int y = 0; y < ny; y += LANES)
            transform_lanes(here + (size_t)y * (size_t)nx, nx, 1, (size_t)nx, sign);
        for (int x = 0; x < nx; x += LANES)
            transform_lanes(here + x, ny, (size_t)nx, 1, sign);
    }
    NEST
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x += LANES)
            transform_lanes(field + (size_t)y * (size_t)nx + x, nz, plane, 1, sign);
}

/* One time step: spectrum *= decay, and a copy of it into `field`. */
static void FORMED(evolve)(void)
{
    NEST
    for (int z = 0; z < nz; z++) {
        for (size_t i = (size_t)z * plane; i < (size_t)(z + 1) * plane; i++) {
            spectrum[i].re *= decay[i];
            spectrum[i].im *= decay[i];
            field[i] = spectrum[i];
        }
    }
}

/* The sum of 1024 elements, into checksum_re and checksum_im. */
static void FORMED(sum_up)(void)
{
    ONCE
    checksum_re = checksum_im = 0;
    NEST_SUM(checksum_re, checksum_im)
    for (int j = 1; j <= 1024; j++) {
        struct complex c = field[(size_t)(5 * j % nz) * plane + (size_t)(3 * j % ny * nx + j % nx)];
        checksum_re += c.re;
        checksum_im += c.im;
    }
}

static void FORMED(solve)(int steps)
{
    FORMED(randomise)();
    FORMED(fill_decay)();
    FORMED(transform)(spectrum, 1);
    for (int step = 0; step < steps; step++) {
        FORMED(evolve)();
        FORMED(transform)(field, -1);
        FORMED(sum_up)();
        ONCE
        keep_checksum(step);
    }
}
