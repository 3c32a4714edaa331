/* build: gcc -m32 -O2 -ffreestanding -nostdlib -fpie -pie -Wl,--dynamic-linker=/lib/ld-linux.so.2 */
/* A 32-bit program with a loader, and without any other library. */

static int call(int number, int a, const char *b, int c)
{
    int result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
    return result;
}

void _start(void)
{
    call(4, 1, "ran=1\n", 6); /* write */
    call(1, 7, 0, 0);         /* exit */
}
