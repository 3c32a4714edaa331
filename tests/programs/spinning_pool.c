/* build: gcc -O2 -pthread */
/* A pool of threads of the program's own, which spin until all have arrived, as local inference servers do.
 * With "listens" others may wait for it, with "ticks" a timer wakes it all the time; with "alone" it has no
 * thread but the first; with "computes" nobody waits; with "binds" each thread has a PU of its own. */
#define _GNU_SOURCE
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The second member waits for the first for most of the time, also on a machine of their own. */
enum { MEMBERS = 2, LONG = 2000, SHORT = 400 };

static long arrived, generation, parts[MEMBERS];
static volatile int over, computes;
static cpu_set_t own;

static void bind_to(long member)
{
    for (int pu = 0; pu < CPU_SETSIZE; pu++)
        if (CPU_ISSET(pu, &own) && !member--) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(pu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

static void meet(int members)
{
    if (computes)
        return;
    long now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == members) {
        __atomic_store_n(&arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&generation, now + 1, __ATOMIC_RELEASE);
        return;
    }
    while (__atomic_load_n(&generation, __ATOMIC_ACQUIRE) == now)
        __builtin_ia32_pause();
}

static void *member(void *argument)
{
    long me = (long)argument;
    bind_to(me);
    for (;;) {
        meet(MEMBERS);
        if (over)
            return 0;
        parts[me] = work(SHORT, me + 1);
        meet(MEMBERS);
    }
}

static void *tick(void *argument)
{
    while (!over)
        usleep(5000);
    return argument;
}

int main(int argc, char **argv)
{
    int alone = argc > 1 && !strcmp(argv[1], "alone");
    if (argc > 1 && !strcmp(argv[1], "listens")) {
        struct sockaddr_un any = {.sun_family = AF_UNIX};
        int listener = socket(AF_UNIX, SOCK_STREAM, 0);
        if (bind(listener, (struct sockaddr *)&any, sizeof any.sun_family) || listen(listener, 1))
            return 2;
    }
    computes = argc > 1 && !strcmp(argv[1], "computes");
    CPU_ZERO(&own);
    if (argc > 1 && !strcmp(argv[1], "binds"))
        sched_getaffinity(0, sizeof own, &own);
    bind_to(0);
    pthread_t other, clock;
    if (argc > 1 && !strcmp(argv[1], "ticks") && pthread_create(&clock, 0, tick, 0))
        return 2;
    if (!alone && pthread_create(&other, 0, member, (void *)1))
        return 2;
    long rounds = 0, wrong = 0, expected[MEMBERS] = {work(LONG, 1), work(SHORT, 2)};
    while (going()) {
        if (!alone)
            meet(MEMBERS);
        parts[0] = work(LONG, 1);
        if (!alone)
            meet(MEMBERS);
        for (int i = 0; i < (alone || computes ? 1 : MEMBERS); i++)
            wrong += parts[i] != expected[i];
        rounds++;
    }
    over = 1;
    if (!alone) {
        meet(MEMBERS);
        pthread_join(other, 0);
    }
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
