/* Whether one of a thread's results so far was rounded. */
#include <xmmintrin.h>

double results[1000];
int rounded[1000];

void run(void) {
#pragma omp parallel for
    for (int i = 0; i < 1000; i++) {
        results[i] = (double)i / (1 + i / 500 * 2);
        rounded[i] = _mm_getcsr() & 32;
    }
}
