/* build: gcc -O2 -fopenmp -pthread */
/* Runs regions. At SIGUSR1 it does once what its argument says, something that processes do and that a
 * library within them has to survive, and then runs regions again. */
#define _GNU_SOURCE
#include "region.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char **environ;
static volatile sig_atomic_t signalled;
static const char *how = "";
static long rounds;
static char *const SLEEP[] = {"sleep", "1000", NULL};

static void on_signal(int signal)
{
    signalled = signal;
}

static long own_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? -1 : CPU_COUNT(&set);
}

static void round_of_it(void)
{
    region();
    rounds++;
}

static void in_a_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        say("child_cpus", own_cpus());
        rounds = wrong = 0;
        say("child", getpid());
        while (going())
            round_of_it();
        say("child_wrong", wrong);
        _exit(wrong != 0);
    }
}

static void spawn(void)
{
    pid_t child;
    if (posix_spawnp(&child, "sleep", NULL, NULL, SLEEP, environ))
        exit(3);
    say("child", child);
    child = vfork();
    if (child == 0) {
        execvp("sleep", SLEEP);
        _exit(4);
    }
    say("second", child);
}

static void spawn_by_shell(void)
{
    pid_t child;
    char *const words[] = {"sh", "-c", "sleep 1000 & echo child=$!; wait", NULL};
    if (posix_spawnp(&child, "sh", NULL, NULL, words, environ))
        exit(3);
    say("shell", child);
}

static void close_everything(void)
{
    close_range(3, ~0u, 0);
    /* Files under all the numbers that were just given up, the library's included. */
    int file = open("/proc/self/exe", O_RDONLY);
    char path[64] = "/tmp/scaf-data-XXXXXX";
    int data = mkstemp(path);
    unlink(path);
    if (file < 0 || data < 0 || write(data, "untouched", 9) != 9)
        exit(3);
    for (int number = 300; number < 500; number++)
        if (dup2(data, number) != number)
            exit(3);
}

static long data_touched(void)
{
    char now[32] = "";
    struct stat about;
    long touched = 0;
    for (int number = 300; number < 500; number++)
        touched += fstat(number, &about) || about.st_size != 9 || pread(number, now, 9, 0) != 9 ||
                   memcmp(now, "untouched", 9);
    return touched;
}

static void *go_on(void *none)
{
    while (going())
        round_of_it();
    say("wrong", wrong);
    exit(wrong != 0);
    return none;
}

static void leave_main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, go_on, NULL))
        exit(3);
    pthread_exit(NULL);
}

static void act(void)
{
    if (!strcmp(how, "fork"))
        in_a_child();
    else if (!strcmp(how, "fork-twice"))
        in_a_child(), in_a_child();
    else if (!strcmp(how, "exec"))
        execl("/proc/self/exe", "processes", "none", NULL), exit(4);
    else if (!strcmp(how, "exec-sleep"))
        execvp("sleep", SLEEP), exit(4);
    else if (!strcmp(how, "spawn"))
        spawn();
    else if (!strcmp(how, "spawn-by-shell"))
        spawn_by_shell();
    else if (!strcmp(how, "setuid"))
        wrong += setuid(65534) != 0;
    else if (!strcmp(how, "close"))
        close_everything();
    else if (!strcmp(how, "leave-main"))
        leave_main();
    else if (!strcmp(how, "exit-in-region")) {
#pragma omp parallel for
        for (int i = 0; i < 100; i++)
            if (i == 99)
                exit(7);
    } else if (!strcmp(how, "die-in-region")) {
#pragma omp parallel for
        for (int i = 0; i < 100; i++)
            if (i == 99)
                raise(SIGKILL);
    }
    say("acted", 1);
}

int main(int count, char **words)
{
    how = count > 1 ? words[1] : "";
    signal(SIGUSR1, on_signal);
    signal(SIGCHLD, SIG_DFL);
    do {
        round_of_it();
        if (signalled) {
            signalled = 0;
            act();
        }
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    if (!strcmp(how, "close"))
        say("touched", data_touched());
    return wrong != 0;
}
