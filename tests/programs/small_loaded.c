/* build: gcc -m32 -O2 -ffreestanding -nostdlib -fpie -pie -Wl,--dynamic-linker=/lib/ld-linux.so.2 */
/* A 32-bit program with a loader, and without any other library. */
#include "small.c"
