/* Each thread adds one to bytes that no operand names. */
#include <emmintrin.h>

char bytes[16];

void run(void) {
    __m128i all = _mm_set1_epi8(-1), one = _mm_set1_epi8(1);
#pragma omp parallel
#pragma omp critical
    _mm_maskmoveu_si128(_mm_add_epi8(_mm_loadu_si128((__m128i *)bytes), one), all, bytes);
}
