/* build: gcc -O2 -fopenmp -pthread */
/* Ends its team after a while, so that it has one thread, and does what the kernel allows to such processes
 * only. Says what came of it: only EINVAL says that it had several. */
#define _GNU_SOURCE
#include "region.h"
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <sched.h>
#include <sys/wait.h>

static void four(void)
{
#pragma omp parallel num_threads(4)
    {
#pragma omp barrier
    }
}

static long threads(void)
{
    char text[4096] = "";
    FILE *file = fopen("/proc/self/status", "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = 0;
    const char *found = strstr(text, "\nThreads:");
    fclose(file);
    return found ? atol(found + 9) : -1;
}

int main(int count, char **words)
{
    if (count > 1 && !strcmp(words[1], "none")) {
        usleep(300000);
        say("threads", threads());
        say("single", unshare(CLONE_NEWUSER) == 0 || errno != EINVAL);
        return 0;
    }
    for (double end = now() + 1.5; now() < end;)
        four();
    omp_pause_resource_all(omp_pause_hard);
    while (going() && threads() > (count > 1 ? 1000 : 1))
        usleep(1000);
    int space = open("/proc/self/ns/mnt", O_RDONLY);
    say("same", setns(space, CLONE_NEWNS) == 0 || errno != EINVAL);
    say("single", unshare(CLONE_NEWUSER) == 0 || errno != EINVAL);
    region();
    say("wrong", wrong);
    return 0;
}
