/* build: musl-gcc -O2 */
/* Has another C library than the client library: nothing can be preloaded into it. */
#include <stdio.h>

int main(void)
{
    puts("ran=1");
    return 7;
}
