/* pykdtree: nearest neighbours. */
#include "../pykdtree/_kdtree_core.c"
#include "numbers.h"
#include <math.h>

int main(void) {
    enum { points = 20000, asked = 20000, k = 4 };
    float *at = malloc(sizeof(float) * 3 * points), *from = malloc(sizeof(float) * 3 * asked);
    float *distances = malloc(sizeof(float) * asked * k);
    uint32_t *found = malloc(sizeof(uint32_t) * asked * k);
    for (int i = 0; i < 3 * points; i++) at[i] = (float)number();
    for (int i = 0; i < 3 * asked; i++) from[i] = (float)number();
    Tree_float_int32_t *tree = construct_tree_float_int32_t(at, 3, points, 16);
    for (int round = 0; round < 6; round++) {
        search_tree_float_int32_t(tree, at, from, asked - (uint32_t)round, k, INFINITY, 0, NULL, found,
                                  distances);
        same(found, sizeof(uint32_t) * (asked - (size_t)round) * k);
        same(distances, sizeof(float) * (asked - (size_t)round) * k);
    }
    delete_tree_float_int32_t(tree);
}
