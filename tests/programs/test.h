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

/* The sizes of a region's latest teams. A single one may be another: a region that the machine held up counts
 * as a long one, and its next team is as large as without scaf. */
#define SIZES 7
struct sizes {
    long of[SIZES];
    long count;
};

static inline void met(struct sizes *sizes, long team)
{
    sizes->of[sizes->count++ % SIZES] = team;
}

/* The one in the middle. */
static inline long usual(const struct sizes *sizes)
{
    long known = sizes->count < SIZES ? sizes->count : SIZES;
    for (long i = 0; i < known; i++) {
        long below = 0, same = 0;
        for (long other = 0; other < known; other++) {
            below += sizes->of[other] < sizes->of[i];
            same += sizes->of[other] == sizes->of[i];
        }
        if (below <= known / 2 && below + same > known / 2)
            return sizes->of[i];
    }
    return 0;
}

/* A kind of rounds, of which a program has several. */
struct kind {
    const char *name;
    void (*round)(void);
};

/* What such a program does: its first argument says which kind; without one the first `turns` kinds take
 * turns, if there are any. */
static inline int do_rounds(const struct kind *kinds, int all, int turns, int count, char **words,
                            long *rounds, const long *wrong)
{
    int kind = count > 1 || !turns ? -1 : 0;
    for (int i = 0; count > 1 && i < all; i++)
        if (!strcmp(words[1], kinds[i].name))
            kind = i;
    if (kind < 0)
        return 2;
    do {
        kinds[kind].round();
        (*rounds)++;
        if (count == 1)
            kind = (kind + 1) % turns;
    } while (going());
    say("rounds", *rounds);
    say("wrong", *wrong);
    return *wrong != 0;
}

#endif
