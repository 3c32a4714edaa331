/* build: gcc -O2 -fPIC -Wl,-z,dynamic-undefined-weak -lpthread */
/* A runtime that asks a Thread Composability Manager for permits in ways in which oneTBB doesn't. The first
 * argument says which: states, callback, threads. */
#include "test.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

typedef void *permit;

struct request {
    int32_t least, most;
    void *constraints;
    uint32_t constraint_count;
    int32_t priority;
    uint32_t flags;
    char reserved[4];
};

struct data {
    uint32_t *workers;
    void *masks;
    uint32_t count;
    uint8_t state;
    uint32_t flags;
};

enum { INACTIVE = 1, IDLE = 3, ACTIVE = 4, AS_INACTIVE = 8 };

int tcmConnect(int (*callback)(permit, void *, uint32_t), uint64_t *client);
int tcmDisconnect(uint64_t client);
int tcmRequestPermit(uint64_t client, struct request request, void *argument, permit *permit,
                     struct data *data);
int tcmGetPermitData(permit permit, struct data *data);
int tcmReleasePermit(permit permit);
int tcmIdlePermit(permit permit);
int tcmDeactivatePermit(permit permit);
int tcmActivatePermit(permit permit);
int tcmRegisterThread(permit permit);
int tcmUnregisterThread(void);
int tcmGetVersionInfo(char *text, uint32_t room);
#pragma weak tcmConnect
#pragma weak tcmDisconnect
#pragma weak tcmRequestPermit
#pragma weak tcmGetPermitData
#pragma weak tcmReleasePermit
#pragma weak tcmIdlePermit
#pragma weak tcmDeactivatePermit
#pragma weak tcmActivatePermit
#pragma weak tcmRegisterThread
#pragma weak tcmUnregisterThread
#pragma weak tcmGetVersionInfo

static uint64_t client;
static atomic_long wrong, calls;

static void expect(int right)
{
    wrong += !right;
}

static int workers(permit permit, int state)
{
    uint32_t number = 1000;
    struct data data = {.workers = &number, .count = 1};
    expect(tcmGetPermitData(permit, &data) == 0 && data.state == state);
    expect(data.count == 1 && !(data.flags & 1));
    return (int)number;
}

static struct request wish(int least, int most)
{
    return (struct request){.least = least, .most = most, .priority = INT32_MAX / 2};
}

/* On two PUs, both granted. */
static void states(void)
{
    permit first = NULL, second = NULL, enqueued = NULL;
    struct request later = wish(0, 0);
    later.flags = AS_INACTIVE;
    expect(tcmRequestPermit(client, later, NULL, &first, NULL) == 0);
    expect(workers(first, INACTIVE) == 0);
    expect(tcmRequestPermit(client, wish(0, 7), NULL, &first, NULL) == 0);
    expect(workers(first, ACTIVE) == 1);
    expect(tcmIdlePermit(first) == 0 && workers(first, IDLE) == 1);
    expect(tcmIdlePermit(first) != 0);
    expect(tcmRequestPermit(client, wish(0, 7), NULL, &second, NULL) == 0);
    expect(workers(second, ACTIVE) == 1 && workers(first, IDLE) == 0);
    expect(tcmDeactivatePermit(second) == 0 && workers(second, INACTIVE) == 0);
    expect(tcmDeactivatePermit(second) != 0);
    expect(tcmActivatePermit(first) == 0 && workers(first, ACTIVE) == 1);
    /* Who has to have a worker gets one. */
    expect(tcmRequestPermit(client, wish(1, 1), NULL, &enqueued, NULL) == 0);
    expect(workers(enqueued, ACTIVE) == 1 && workers(first, ACTIVE) == 0);
    expect(tcmReleasePermit(enqueued) == 0 && workers(first, ACTIVE) == 1);
    /* What is asked for within work gets what that leaves. */
    expect(tcmRegisterThread(first) == 0);
    expect(tcmActivatePermit(second) == 0 && workers(second, ACTIVE) == 0 && workers(first, ACTIVE) == 1);
    expect(tcmUnregisterThread() == 0);
    expect(tcmRequestPermit(client, wish(3, 1), NULL, &second, NULL) != 0);
    expect(tcmRequestPermit(client, wish(-1, -1), NULL, &second, NULL) == 0);
    expect(tcmGetPermitData(NULL, NULL) != 0 && tcmReleasePermit(NULL) != 0 && tcmRegisterThread(NULL) != 0);
    char text[8];
    expect(tcmGetVersionInfo(text, sizeof text) == 0 && memcmp(text, "TCM: ", 5) == 0);
    /* More than fit into a page. */
    permit many[1000] = {0};
    for (int i = 0; i < 1000; i++)
        expect(tcmRequestPermit(client, wish(0, 7), NULL, &many[i], NULL) == 0);
    for (int i = 0; i < 1000; i++)
        expect(tcmReleasePermit(many[i]) == 0);
    expect(tcmReleasePermit(first) == 0 && tcmReleasePermit(second) == 0);
}

/* What a permit's owner is told is of this; gone with the permit. */
struct owner {
    atomic_long alive;
    permit permit;
    int releases;
};

static int called(permit permit, void *argument, uint32_t flags)
{
    struct owner *owner = argument;
    (void)flags;
    calls++;
    if (!owner)
        return 0;
    expect(owner->alive == 1);
    if (owner->releases) {
        expect(tcmReleasePermit(permit) == 0);
        owner->alive = 0;
        return 0;
    }
    uint32_t number = 0;
    struct data data = {.workers = &number, .count = 1};
    tcmGetPermitData(permit, &data);
    work(200, number);
    expect(owner->alive == 1);
    return 0;
}

static void ask(struct owner *owner, int releases)
{
    owner->alive = 1;
    owner->permit = NULL;
    owner->releases = releases;
    expect(tcmRequestPermit(client, wish(0, 7), owner, &owner->permit, NULL) == 0);
}

static void *asks_and_releases(void *ended)
{
    struct owner owner;
    while (!*(atomic_int *)ended) {
        ask(&owner, 0);
        work(100, 1);
        expect(tcmReleasePermit(owner.permit) == 0);
        owner.alive = 0;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "states";
    static struct owner one, other;
    going();
    int connected = tcmConnect(called, &client) == 0;
    say("connected", connected);
    if (connected && strcmp(what, "states") == 0) {
        /* Asked for something, so that it is attached. */
        permit any = NULL;
        expect(tcmRequestPermit(client, wish(0, 7), NULL, &any, NULL) == 0);
        while (going())
            usleep(1000);
        expect(tcmReleasePermit(any) == 0);
        states();
    } else if (connected && strcmp(what, "callback") == 0) {
        do {
            if (one.alive == 0)
                ask(&one, 1);
            usleep(1000);
        } while (going());
    } else if (connected) {
        pthread_t threads[2];
        atomic_int ended = 0;
        ask(&other, 0);
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, asks_and_releases, &ended);
        do
            usleep(1000);
        while (going());
        ended = 1;
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        expect(tcmReleasePermit(other.permit) == 0);
    }
    if (connected && strcmp(what, "callback") != 0)
        expect(tcmDisconnect(client) == 0);
    say("wrong", wrong);
    say("calls", calls);
    return 0;
}
