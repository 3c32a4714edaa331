/* build: gcc -O2 -pthread */
/* An allocator around the C library's, which it looks for at its first call, under a lock. Nobody but the
 * program calls it before main, nor in a search of its own. */
#define _GNU_SOURCE
#include "test.h"
#include <dlfcn.h>
#include <pthread.h>

int omp_get_max_threads(void) __attribute__((weak));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *(*real_malloc)(size_t);
static void (*real_free)(void *);
static long calls;

void *malloc(size_t bytes)
{
    pthread_mutex_lock(&lock);
    calls++;
    if (!real_malloc)
        real_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    void *memory = real_malloc(bytes);
    pthread_mutex_unlock(&lock);
    return memory;
}

void free(void *memory)
{
    pthread_mutex_lock(&lock);
    if (!real_free)
        real_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    real_free(memory);
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    long before = calls, wrong = omp_get_max_threads != NULL;
    void *library = dlopen("libm.so.6", RTLD_LAZY);
    wrong += library == NULL || before != 0;
    char *memory = malloc(100);
    wrong += memory == NULL;
    free(memory);
    say("wrong", wrong);
    return 0;
}
