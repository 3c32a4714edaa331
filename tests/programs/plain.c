/* build: gcc -O2 -fopenmp -pthread */
/* Does what programs do to themselves and a library within them had better not notice, and prints what comes
 * of it: the same whatever its teams. Its arguments are steps, done one after the other. */
#define _GNU_SOURCE
#include "region.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Where print_value writes: standard output, or what was it. */
static int out = 1;

static void print_value(const char *key, long value)
{
    char line[64];
    int length = snprintf(line, sizeof line, "%s=%ld\n", key, value);
    if (write(out, line, (size_t)length) != length)
        _exit(9);
}

/* For longer than the client goes without a look at the daemon. */
static void rounds(void)
{
    double until = now() + 1.2;
    do
        region();
    while (now() < until);
}

/* The number of the next file. */
static void next_file(void)
{
    int file = open("/", O_RDONLY);
    print_value("file", file < 0 ? -errno : file);
    if (file >= 0)
        close(file);
}

/* How many files can be opened. */
static void files(void)
{
    long count = 0;
    while (open("/", O_RDONLY) >= 0)
        count++;
    print_value("files", count);
}

static void limit(int what, rlim_t to)
{
    struct rlimit limit = {to, to};
    if (setrlimit(what, &limit))
        _exit(3);
}

static void little_memory(void)
{
    long pages = 0;
    FILE *sizes = fopen("/proc/self/statm", "r");
    if (!sizes || fscanf(sizes, "%ld", &pages) != 1)
        _exit(3);
    fclose(sizes);
    limit(RLIMIT_AS, (rlim_t)pages * 4096 + (24 << 20));
}

static void nobody(void)
{
    if (setgid(65534) || setuid(65534))
        _exit(3);
}

static void close_stdio(void)
{
    out = fcntl(1, F_DUPFD, 200);
    close(0), close(1), close(2);
}

static sigjmp_buf back;
static volatile sig_atomic_t alarms;

static void jump(int signal)
{
    alarms += signal == SIGALRM;
    siglongjmp(back, 1);
}

/* Leaves a signal's handler by a jump, again and again, between regions. */
static void jumps(void)
{
    struct sigaction action = {.sa_handler = jump};
    sigaction(SIGALRM, &action, NULL);
    while (alarms < 200) {
        if (!sigsetjmp(back, 1)) {
            ualarm(500, 0);
            for (;;)
                *(volatile long *)&wrong += 0;
        }
        region();
    }
    print_value("alarms", alarms);
}

static void count(int signal)
{
    alarms += signal == SIGALRM;
}

/* A timer beside regions, and how often waits are interrupted by nothing of the program's. */
static void waits(void)
{
    int pipes[2], interrupted = 0;
    char byte;
    struct sigaction action = {.sa_handler = count};
    if (pipe(pipes))
        _exit(3);
    sigaction(SIGALRM, &action, NULL);
    region();
    struct timespec pause = {1, 300000000};
    interrupted += nanosleep(&pause, NULL) != 0;
    print_value("interrupted", interrupted);
    /* The one signal there is ends the wait. */
    alarm(1);
    print_value("read", read(pipes[0], &byte, 1) < 0 ? -errno : 1);
    print_value("alarms", alarms);
    rounds();
}

#define MANY 1000
static pthread_barrier_t all_there;

static void *one_of_many(void *sum)
{
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < 3; i++)
#pragma omp parallel num_threads(1)
        __atomic_add_fetch((long *)sum, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void many_threads(void)
{
    static pthread_t threads[MANY];
    pthread_attr_t small;
    long sum = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    pthread_barrier_init(&all_there, NULL, MANY);
    for (int i = 0; i < MANY; i++)
        if (pthread_create(&threads[i], &small, one_of_many, &sum))
            _exit(3);
    for (int i = 0; i < MANY; i++)
        pthread_join(threads[i], NULL);
    print_value("sum", sum);
}

static void in_a_child(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        wrong = 0;
        rounds();
        next_file();
        _exit(wrong != 0);
    }
    waitpid(child, &status, 0);
    print_value("child", status);
}

static void tasks(void)
{
    struct stat about;
    print_value("tasks", stat("/proc/self/task", &about) ? -errno : (long)about.st_nlink - 2);
}

/* What a process has from the one that started it. */
static void inherited(void)
{
    sigset_t blocked;
    struct sigaction pipe_action;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    sigaction(SIGPIPE, NULL, &pipe_action);
    for (int signal = 1; signal < 32; signal++)
        if (sigismember(&blocked, signal))
            print_value("blocked", signal);
    print_value("pipe_ignored", pipe_action.sa_handler == SIG_IGN);
    for (int file = 0; file < 3; file++)
        print_value("closed", fcntl(file, F_GETFD) < 0);
}

static void odd_signals(void)
{
    sigset_t some;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    sigprocmask(SIG_BLOCK, &some, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void step(const char *name, char **rest)
{
    const char *number = strrchr(name, '-');
    if (!strcmp(name, "region"))
        region();
    else if (!strcmp(name, "rounds"))
        rounds();
    else if (!strcmp(name, "close-all"))
        print_value("closed", close_range(3, ~0u, 0));
    else if (!strcmp(name, "close-stdio"))
        close_stdio();
    else if (!strcmp(name, "close-input"))
        close(0);
    else if (!strcmp(name, "next-file"))
        next_file();
    else if (!strcmp(name, "files"))
        files();
    else if (number && !strncmp(name, "files-", 6))
        limit(RLIMIT_NOFILE, (rlim_t)atoi(number + 1));
    else if (!strcmp(name, "no-threads"))
        limit(RLIMIT_NPROC, 0);
    else if (!strcmp(name, "little-memory"))
        little_memory();
    else if (!strcmp(name, "nobody"))
        nobody();
    else if (!strcmp(name, "user"))
        print_value("user", geteuid());
    else if (!strcmp(name, "jail"))
        print_value("jail", chroot("/usr/share"));
    else if (!strcmp(name, "unshare"))
        print_value("unshare", unshare(CLONE_NEWUSER) ? -errno : 0);
    else if (!strcmp(name, "unshare-files"))
        print_value("unshare", unshare(CLONE_FILES | CLONE_FS) ? -errno : 0);
    else if (!strcmp(name, "jumps"))
        jumps();
    else if (!strcmp(name, "waits"))
        waits();
    else if (!strcmp(name, "many-threads"))
        many_threads();
    else if (!strcmp(name, "child"))
        in_a_child();
    else if (!strcmp(name, "ignore-children"))
        signal(SIGCHLD, SIG_IGN);
    else if (!strcmp(name, "wait"))
        print_value("wait", wait(NULL) < 0 ? -errno : 1);
    else if (!strcmp(name, "tasks"))
        tasks();
    else if (!strcmp(name, "odd-signals"))
        odd_signals();
    else if (!strcmp(name, "inherited"))
        inherited();
    else if (!strcmp(name, "exec"))
        execvp(rest[0], rest), _exit(4);
    else
        _exit(2);
}

int main(int many, char **words)
{
    for (int i = 1; i < many; i++)
        step(words[i], words + i + 1);
    print_value("wrong", wrong);
    return wrong != 0;
}
