/* The parallel loop nests of cg.c, read once for each form; see nest.h. Scalars that a team shares are
 * file-scope; they're set only in ONCE blocks, between two barriers. */
#include "nest.h"

/* 25 steps of conjugate gradients for A z = x; leaves z, and ||x - A z|| squared in `residual`. */
static void FORMED(conjugate_gradient)(void)
{
    ONCE
    rho = rho_old = p_dot_q = residual = 0;
    NEST_SUM(rho)
    for (int i = 0; i < n; i++) {
        z[i] = 0;
        r[i] = p[i] = x[i];
        rho += x[i] * x[i];
    }
    for (int step = 0; step < CG_STEPS; step++) {
        NEST_SUM(p_dot_q)
        for (int i = 0; i < n; i++) {
            q[i] = row_times(i, p);
            p_dot_q += p[i] * q[i];
        }
        ONCE
        {
            alpha = rho / p_dot_q;
            rho_old = rho;
            rho = p_dot_q = 0;
        }
        NEST_SUM(rho)
        for (int i = 0; i < n; i++) {
            z[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            rho += r[i] * r[i];
        }
        NEST
        for (int i = 0; i < n; i++)
            p[i] = r[i] + rho / rho_old * p[i];
    }
    NEST_SUM(residual)
    for (int i = 0; i < n; i++) {
        double d = x[i] - row_times(i, z);
        residual += d * d;
    }
}

/* One step of the inverse power method: solve, estimate zeta, and take the normalised z as the next x. */
static void FORMED(power_step)(void)
{
    FORMED(conjugate_gradient)();
    ONCE
    x_dot_z = z_dot_z = 0;
    NEST_SUM(x_dot_z, z_dot_z)
    for (int i = 0; i < n; i++) {
        x_dot_z += x[i] * z[i];
        z_dot_z += z[i] * z[i];
    }
    NEST
    for (int i = 0; i < n; i++)
        x[i] = z[i] / sqrt(z_dot_z);
}
