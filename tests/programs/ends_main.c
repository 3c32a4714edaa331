/* build: gcc -O2 -fopenmp -pthread */
/* main ends before its process, by the way that the first argument says: the process ends when its other
 * threads do. With a second argument there is one that goes on for a while, with regions of its own. */
#define _GNU_SOURCE
#include "region.h"
#include <pthread.h>
#include <sys/syscall.h>
#include <threads.h>

static pthread_t first;

static void four(void)
{
    long sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
        sum += 1;
#pragma omp barrier
    }
    wrong += sum != 4;
}

static void *go_on(void *how)
{
    if (how)
        pthread_cancel(first);
    for (double end = now() + 0.7; now() < end;)
        how ? region() : four();
    say("other", wrong);
    return NULL;
}

static void at_end(void)
{
    say("at_end", 1);
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "";
    atexit(at_end);
    for (double end = now() + 1; now() < end;)
        four();
    say("wrong", wrong);
    pthread_t thread;
    int is_cancelled = !strcmp(how, "cancelled");
    first = pthread_self();
    if ((count > 2 || is_cancelled) && pthread_create(&thread, NULL, go_on, is_cancelled ? &first : NULL))
        return 3;
    if (!strcmp(how, "pthread_exit"))
        pthread_exit(NULL);
    if (!strcmp(how, "thrd_exit"))
        thrd_exit(7);
    for (; is_cancelled;)
        pause();
    return 4;
}
