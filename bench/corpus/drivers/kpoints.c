/* spglib: which points of a mesh in reciprocal space a crystal's symmetry makes equal. */
#include "numbers.h"
#include <spglib.h>
#include <stdlib.h>

int main(void) {
    double lattice[3][3] = {{4, 0, 0}, {0, 4, 0}, {0, 0, 4}}, position[2][3] = {{0, 0, 0}, {.5, .5, .5}};
    int types[2] = {1, 2}, shift[3] = {0, 0, 0};
    for (int size = 40; size < 46; size += 2) {
        int mesh[3] = {size, size, size + 2};
        size_t count = (size_t)(size * size * (size + 2));
        int(*grid)[3] = malloc(sizeof *grid * count), *map = malloc(sizeof *map * count);
        int found = spg_get_ir_reciprocal_mesh(grid, map, mesh, shift, 1, lattice, position, types, 2, 1e-5);
        printf("%d\n", found);
        same(grid, sizeof *grid * count);
        same(map, sizeof *map * count);
        free(grid);
        free(map);
    }
}
