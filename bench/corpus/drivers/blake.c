/* libb2: hashes by its parallel functions, whose lanes are the threads of a team. */
#include "numbers.h"
#include <blake2.h>
#include <stdlib.h>

int main(void) {
    size_t size = 4 << 20;
    unsigned char *text = malloc(size), hash[64];
    for (size_t i = 0; i < size; i++) text[i] = (unsigned char)(256 * number());
    for (int round = 0; round < 20; round++) {
        blake2bp(hash, text, NULL, sizeof hash, size - (size_t)round, 0);
        same(hash, sizeof hash);
        blake2sp(hash, text, NULL, 32, size - 7 * (size_t)round, 0);
        same(hash, 32);
    }
}
