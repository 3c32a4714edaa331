/* What the drivers have in common: input that is always the same, and output that can be compared. */
#include <stdio.h>
#include <stddef.h>

static unsigned long long numbers_state = 88172645463325252ULL;

/* Between 0 and 1. */
static inline double number(void) {
    numbers_state ^= numbers_state << 13;
    numbers_state ^= numbers_state >> 7;
    numbers_state ^= numbers_state << 17;
    return (double)(numbers_state >> 11) / 9007199254740992.0;
}

/* Some of many floating-point numbers, each in full. */
static inline void show(const double *values, size_t count) {
    size_t step = count > 200 ? count / 200 : 1;
    for (size_t i = 0; i < count; i += step) printf("%.17g\n", values[i]);
}

/* Bytes that have to be the same to the last bit. */
static inline void same(const void *bytes, size_t count) {
    unsigned long long hash = 1469598103934665603ULL;
    for (size_t i = 0; i < count; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 1099511628211ULL;
    for (int i = 0; i < 64; i += 4) putchar("abcdefghijklmnop"[hash >> i & 15]);
    putchar('\n');
}
