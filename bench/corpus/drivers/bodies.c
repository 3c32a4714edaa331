/* rebound: bodies that attract each other. */
#include "numbers.h"
#include "rebound.h"

int main(void) {
    struct reb_simulation *simulation = reb_simulation_create();
    reb_simulation_set_integrator(simulation, "leapfrog");
    simulation->gravity = REB_GRAVITY_BASIC;
    simulation->softening = 0.01;
    simulation->dt = 0.001;
    for (int i = 0; i < 300; i++) {
        struct reb_particle body = {0};
        body.m = 1.0 / 300;
        body.x = number(), body.y = number(), body.z = number();
        reb_simulation_add(simulation, body);
    }
    reb_simulation_steps(simulation, 100);
    double all[900];
    for (int i = 0; i < 300; i++) {
        struct reb_particle *body = &simulation->particles[i];
        all[3 * i] = body->x, all[3 * i + 1] = body->y, all[3 * i + 2] = body->z;
    }
    same(all, sizeof all);
    show(all, 900);
    reb_simulation_free(simulation);
}
