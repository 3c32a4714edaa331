/* pyscf's helpers for arrays: a product of matrices, sums of the threads' own arrays, transposes. */
#include "numbers.h"
#include <omp.h>
#include <stdlib.h>

void NPomp_dsum_reduce_inplace(double **, size_t);
void NPdtranspose_021(int *, double *, double *);
void NPdsymm_021_sum(int *, double *, double *, int);

int main(void) {
    enum { size = 60, count = 40 };
    int shape[3] = {count, size, size};
    double *in = malloc(sizeof(double) * count * size * size);
    double *out = malloc(sizeof(double) * count * size * size);
    for (int i = 0; i < count * size * size; i++) in[i] = (int)(1000 * number());
    double *parts[64];
    for (int round = 0; round < 15; round++) {
        NPdtranspose_021(shape, in, out);
        NPdsymm_021_sum(shape, out, in, 1);
        for (int i = 0; i < count * size * size; i++) in[i] = (double)((long)in[i] % 1000);
        same(in, sizeof(double) * count * size * size);
        #pragma omp parallel
        {
            int me = omp_get_thread_num();
            parts[me] = calloc(size * size, sizeof(double));
            #pragma omp for schedule(static)
            for (int c = 0; c < count; c++)
                for (int i = 0; i < size * size; i++) parts[me][i] += in[c * size * size + i];
            NPomp_dsum_reduce_inplace(parts, size * size);
            #pragma omp master
            same(parts[0], sizeof(double) * size * size);
            #pragma omp barrier
            free(parts[me]);
        }
    }
}
