/* build: gcc -O2 -fopenmp -pthread */
/* Runs regions until it is told what to do: each line of standard input names a way to start a child. The
 * child says how many PUs it has, as its first word. "bench" starts many and says how long one takes. */
#define _GNU_SOURCE
#include "region.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

extern char **environ;
static char itself[4096];
static char *const COUNT[] = {"children", "count", NULL};

/* What the kernel says, whatever is in between. */
static cpu_set_t real_set(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_sched_getaffinity), "D"(0), "S"(sizeof set), "d"(&set)
                     : "rcx", "r11", "memory");
    return set;
}

static int really(void)
{
    cpu_set_t set = real_set();
    return CPU_COUNT(&set);
}

static int born_with;
static cpu_set_t all;

__attribute__((constructor(101))) static void begins(void)
{
    all = real_set();
    born_with = CPU_COUNT(&all);
}

static int status_of(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int count_in_clone(void *unused)
{
    (void)unused;
    _exit(really());
}

static int exec_in_clone(void *unused)
{
    (void)unused;
    execv(itself, COUNT);
    _exit(99);
}

static int by_clone(int (*function)(void *), int flags)
{
    static char stack[1 << 16] __attribute__((aligned(16)));
    return status_of(clone(function, stack + sizeof stack, flags | SIGCHLD, NULL));
}

static int answer(const char *command)
{
    char text[64] = "";
    FILE *from = popen(command, "r");
    if (!from || !fgets(text, sizeof text, from))
        return -1;
    pclose(from);
    return atoi(text);
}

static int on_small_stack;

static void spawn_there(void)
{
    pid_t child;
    on_small_stack = posix_spawn(&child, itself, NULL, NULL, COUNT, environ) ? -1 : status_of(child);
}

/* On a stack of 6 KiB, with a page behind it that nobody may touch. */
static int spawn_on_small_stack(void)
{
    enum { PAGE = 4096, SIZE = 6144 };
    static ucontext_t here, there;
    char *memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, PAGE, PROT_NONE) || getcontext(&there))
        return -1;
    there.uc_stack.ss_sp = memory + PAGE;
    there.uc_stack.ss_size = SIZE;
    there.uc_link = &here;
    makecontext(&there, spawn_there, 0);
    swapcontext(&here, &there);
    munmap(memory, 3 * PAGE);
    return on_small_stack;
}

static int start(const char *how)
{
    pid_t child = -1;
    char command[5000];
    snprintf(command, sizeof command, "'%s' count", itself);
    if (!strcmp(how, "posix_spawn"))
        return posix_spawn(&child, itself, NULL, NULL, COUNT, environ) ? -1 : status_of(child);
    if (!strcmp(how, "posix_spawnp"))
        return posix_spawnp(&child, itself, NULL, NULL, COUNT, environ) ? -1 : status_of(child);
    if (!strcmp(how, "system")) {
        int status = system(command);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    if (!strcmp(how, "small_stack"))
        return spawn_on_small_stack();
    if (!strcmp(how, "popen"))
        return answer("nproc");
    if (!strcmp(how, "taskset")) {
        cpu_set_t set = real_set();
        int first = 0;
        while (!CPU_ISSET(first, &set))
            first++;
        snprintf(command, sizeof command, "taskset -c %d sh -c 'sleep 2; nproc; sleep 1'", first);
        return answer(command);
    }
    if (!strcmp(how, "fork") || !strcmp(how, "_Fork") || !strcmp(how, "by_number")) {
        child = !strcmp(how, "fork") ? fork()
                : !strcmp(how, "_Fork") ? _Fork()
                                        : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0)
            _exit(really());
        return status_of(child);
    }
    if (!strcmp(how, "vfork")) {
        child = vfork();
        if (child == 0) {
            execl(itself, "children", "count", NULL);
            _exit(99);
        }
        return status_of(child);
    }
    if (!strcmp(how, "vfork_twice")) {
        child = vfork();
        if (child == 0) {
            pid_t second = vfork();
            if (second == 0) {
                execle(itself, "children", "count", NULL, environ);
                _exit(99);
            }
            _exit(status_of(second));
        }
        return status_of(child);
    }
    if (!strcmp(how, "fork_exec")) {
        child = fork();
        if (child == 0) {
            execlp(itself, "children", "count", NULL);
            _exit(99);
        }
        return status_of(child);
    }
    if (!strcmp(how, "clone"))
        return by_clone(count_in_clone, 0);
    if (!strcmp(how, "clone_vfork"))
        return by_clone(exec_in_clone, CLONE_VM | CLONE_VFORK);
    exit(2);
}

static int asked(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? -1 : CPU_COUNT(&set);
}

static int asked_of_thread(void)
{
    cpu_set_t set;
    return pthread_getaffinity_np(pthread_self(), sizeof set, &set) ? -1 : CPU_COUNT(&set);
}

static int asked_by_number(void)
{
    unsigned long set[16] = {0};
    return syscall(SYS_sched_getaffinity, gettid(), sizeof set, set) <= 0 ? -1 : __builtin_popcountl(set[0]);
}

/* To what it has, or to all; how many PUs it has then, by its own word. */
static int bind(const char *how)
{
    cpu_set_t set = strcmp(how, "unbinds") ? real_set() : all;
    int failed = !strcmp(how, "binds_thread") ? pthread_setaffinity_np(pthread_self(), sizeof set, &set)
                 : !strcmp(how, "binds_by_number")
                     ? (int)syscall(SYS_sched_setaffinity, gettid(), sizeof set, &set)
                     : sched_setaffinity(0, sizeof set, &set);
    return failed ? -1 : asked();
}

static void bench(void)
{
    char *const words[] = {"true", NULL};
    double least = 1e9;
    for (int block = 0; block < 20; block++) {
        double from = now();
        for (int i = 0; i < 20; i++) {
            pid_t child;
            if (posix_spawn(&child, "/bin/true", NULL, NULL, words, environ))
                exit(3);
            status_of(child);
        }
        double one = (now() - from) / 20;
        least = one < least ? one : least;
    }
    say("us", (long)(1e6 * least));
}

int main(int count, char **words)
{
    if (count > 1 && !strcmp(words[1], "count"))
        return born_with;
    if (count > 1 && !strcmp(words[1], "asks_parent")) {
        cpu_set_t set;
        return sched_getaffinity(getppid(), sizeof set, &set) ? 99 : CPU_COUNT(&set);
    }
    if (readlink("/proc/self/exe", itself, sizeof itself - 1) < 0)
        return 3;
    alarm(120);
    say("born", born_with);
    struct pollfd input = {.fd = 0, .events = POLLIN, .revents = 0};
    for (;;) {
        region();
        if (poll(&input, 1, 0) != 1)
            continue;
        char how[64] = "";
        ssize_t length = read(0, how, sizeof how - 1);
        if (length <= 0)
            break;
        how[strcspn(how, "\n")] = 0;
        if (!strcmp(how, "itself"))
            execv(itself, (char *const[]){"children", NULL});
        else if (!strcmp(how, "bench"))
            bench();
        else if (!strcmp(how, "asks")) {
            say("asked", asked());
            say("asked_of_thread", asked_of_thread());
            say("asked_by_number", asked_by_number());
        } else if (strstr(how, "binds")) {
            say(how, bind(how));
        } else if (!strcmp(how, "parent")) {
            pid_t child;
            char *const ask[] = {"children", "asks_parent", NULL};
            posix_spawn(&child, itself, NULL, NULL, ask, environ);
            say("parent", status_of(child));
        } else
            say(how, start(how));
        say("then", really());
    }
    say("wrong", wrong);
    return wrong != 0;
}
