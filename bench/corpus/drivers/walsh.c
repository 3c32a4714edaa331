/* pyfwht: Walsh and Hadamard's transform by tasks. */
#include "numbers.h"
#include <fwht.h>
#include <stdlib.h>

int main(void) {
    size_t size = 1 << 18;
    int32_t *whole = malloc(size * sizeof *whole);
    double *real = malloc(size * sizeof *real);
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < size; i++) whole[i] = (int32_t)(100 * (real[i] = number()));
        if (fwht_i32_backend(whole, size, FWHT_BACKEND_OPENMP)) return 1;
        if (fwht_f64_backend(real, size, FWHT_BACKEND_OPENMP)) return 1;
        same(whole, size * sizeof *whole);
        same(real, size * sizeof *real);
    }
}
