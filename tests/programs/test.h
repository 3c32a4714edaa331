/* What the test programs share. A program runs rounds while `going()`, then prints lines of key=value. It
 * counts its teams by adding ones, for scaf doesn't resize programs that ask for the size of a team. */
#ifndef TEST_H
#define TEST_H

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* False once standard input has ended. Ends the program if nobody ends it for two minutes. */
static inline int going(void)
{
    static int first = 1;
    struct pollfd input = {.fd = 0, .events = POLLIN, .revents = 0};
    if (first)
        alarm(120);
    first = 0;
    int ready;
    while ((ready = poll(&input, 1, 0)) < 0) {
        /* A signal came in between. */
    }
    return ready == 0;
}

static inline void say(const char *key, long value)
{
    printf("%s=%ld\n", key, value);
    fflush(stdout);
}

/* Work that the compiler can't leave out: about 1 us a hundred. */
static inline long work(long steps, long seed)
{
    unsigned long x = (unsigned long)seed * 2654435761u + 1;
    for (long i = 0; i < steps; i++)
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return (long)(x & 0xffff);
}

#endif
