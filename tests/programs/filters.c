/* build: gcc -O2 -fopenmp -pthread */
/* Computes under filters of system calls, set as its arguments say, one after the other. What it prints is
 * the same whatever its teams. */
#define _GNU_SOURCE
#include "region.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;
static unsigned answer = SECCOMP_RET_KILL_PROCESS;

#define DO(code, k) ((struct sock_filter)BPF_STMT(code, k))
#define IF(what, yes, no) ((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, what, yes, no))
#define ARGUMENT(n) (offsetof(struct seccomp_data, args) + 8 * (n))

/* What OpenMP, threads, standard output and the end of a program take, and nothing else. */
static const int NEEDED[] = {
    SYS_futex,       SYS_sched_yield,    SYS_exit,           SYS_exit_group,      SYS_write,  SYS_munmap,
    SYS_mprotect,    SYS_madvise,        SYS_brk,            SYS_clone,           SYS_clone3, SYS_rseq,
    SYS_restart_syscall, SYS_set_robust_list, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_getrandom,
    SYS_rt_sigaction, SYS_newfstatat, SYS_fstat,
};
/* The same once all threads are there. */
static const int TEAMS[] = {
    SYS_futex,  SYS_sched_yield,     SYS_exit_group, SYS_write, SYS_brk,
    SYS_munmap, SYS_restart_syscall, SYS_newfstatat, SYS_fstat,
};
/* What looking for a daemon takes, and few programs do. */
static const int LOOKS[] = {
    SYS_socket,  SYS_connect, SYS_getsockopt,  SYS_sendto, SYS_recvmsg,       SYS_recvfrom,   SYS_poll,
    SYS_geteuid, SYS_getpid,  SYS_memfd_create, SYS_gettid, SYS_sched_setaffinity, SYS_membarrier,
    SYS_getdents64,
};
#define MANY(list) (sizeof(list) / sizeof *(list))

/* Only what is needed; of mmap only memory of its own. */
static struct sock_fprog only(const int *calls, size_t many)
{
    static struct sock_filter all[64];
    size_t n = 0;
    all[n++] = DO(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < many; i++) {
        all[n++] = IF(calls[i], 0, 1);
        all[n++] = DO(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    all[n++] = IF(SYS_mmap, 0, 3);
    all[n++] = DO(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(4));
    all[n++] = IF(0xffffffff, 0, 1);
    all[n++] = DO(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    all[n++] = DO(BPF_RET | BPF_K, answer);
    return (struct sock_fprog){n, all};
}

static struct sock_fprog strict(void)
{
    return only(NEEDED, MANY(NEEDED));
}

static struct sock_fprog strictest(void)
{
    return only(TEAMS, MANY(TEAMS));
}

/* All but these. */
static struct sock_fprog all_but(const int *calls, size_t many)
{
    static struct sock_filter all[64];
    size_t n = 0;
    all[n++] = DO(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < many; i++) {
        all[n++] = IF(calls[i], 0, 1);
        all[n++] = DO(BPF_RET | BPF_K, answer);
    }
    all[n++] = DO(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    return (struct sock_fprog){n, all};
}

static struct sock_fprog no_looks(void)
{
    return all_but(LOOKS, MANY(LOOKS));
}

static struct sock_fprog no_barriers(void)
{
    static const int BARRIER = SYS_membarrier;
    return all_but(&BARRIER, 1);
}

static struct sock_fprog harmless(void)
{
    return all_but(NULL, 0);
}

/* As a kernel with thousands of possible processors: it takes no small sets of them. */
static struct sock_fprog large_sets(void)
{
    static struct sock_filter all[6];
    all[0] = DO(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    all[1] = IF(SYS_sched_getaffinity, 0, 3);
    all[2] = DO(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(1));
    all[3] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 512, 1, 0);
    all[4] = DO(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL);
    all[5] = DO(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    return (struct sock_fprog){6, all};
}

static void by_prctl(struct sock_fprog filter)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        exit(3);
}

static void by_number(struct sock_fprog filter, unsigned flags)
{
    if (syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter))
        exit(3);
}

/* Keeps its size, so that it is gathered or folded. */
static void whole(void)
{
    long sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(2)
    for (long i = 0; i < 64; i++)
        sum += i + 0 * work(200, i);
    wrong += sum != 2016;
}

static void rounds(void (*round)(void), double seconds)
{
    double until = now() + seconds;
    do
        round();
    while (now() < until);
}

static void *strict_mode(void *done)
{
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
        exit(3);
    for (long i = 0; i < 1000000; i++)
        *(volatile long *)done += 1;
    /* Not exit_group, and nothing that glibc does at a thread's end. */
    register long call __asm__("rax") = SYS_exit;
    register long code __asm__("rdi") = 0;
    __asm__ volatile("syscall" : : "r"(call), "r"(code) : "rcx", "r11", "memory");
    return NULL;
}

static void a_strict_thread(void)
{
    pthread_t thread;
    long done = 0;
    if (pthread_create(&thread, NULL, strict_mode, &done) || pthread_join(thread, NULL))
        exit(3);
    say("done", done);
}

static void in_a_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        by_prctl(strict());
        rounds(region, 0.1);
        _exit(wrong != 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    say("child", status);
}

static void in_a_borrowed_child(void)
{
    struct sock_fprog filter = no_looks();
    char *const words[] = {"true", NULL};
    pid_t child = vfork();
    if (child == 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
            _exit(3);
        execvpe("true", words, environ);
        _exit(4);
    }
    int status = -1;
    waitpid(child, &status, 0);
    say("child", status);
}

/* What asks whether there are filters, and what fails. */
static void none(void)
{
    struct sock_fprog empty = {0, NULL}, filter = strict();
    say("prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL));
    say("errno", errno);
    say("seccomp", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL));
    say("errno", errno);
    say("empty", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &empty));
    say("errno", errno);
    say("flags", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 1u << 30, &filter));
    say("errno", errno);
    say("name", prctl(PR_SET_NAME, "filters"));
    say("pid", syscall(SYS_getpid) == getpid());
}

static void step(const char *name, char **rest)
{
    if (!strcmp(name, "region"))
        region();
    else if (!strcmp(name, "rounds"))
        rounds(region, 1.2);
    else if (!strcmp(name, "whole"))
        rounds(whole, 1.2);
    else if (!strcmp(name, "until-told"))
        while (going())
            region();
    else if (!strcmp(name, "refusing"))
        answer = SECCOMP_RET_ERRNO | EPERM;
    else if (!strcmp(name, "strict"))
        by_prctl(strict());
    else if (!strcmp(name, "strict-by-number"))
        by_number(strict(), 0);
    else if (!strcmp(name, "strict-for-all"))
        by_number(strict(), SECCOMP_FILTER_FLAG_TSYNC);
    else if (!strcmp(name, "strictest"))
        by_prctl(strictest());
    else if (!strcmp(name, "strictest-for-all"))
        by_number(strictest(), SECCOMP_FILTER_FLAG_TSYNC);
    else if (!strcmp(name, "no-looks"))
        by_prctl(no_looks());
    else if (!strcmp(name, "harmless"))
        by_prctl(harmless());
    else if (!strcmp(name, "large-sets"))
        by_prctl(large_sets());
    else if (!strcmp(name, "no-barriers"))
        by_prctl(no_barriers());
    else if (!strcmp(name, "thread"))
        a_strict_thread();
    else if (!strcmp(name, "child"))
        in_a_child();
    else if (!strcmp(name, "borrowed"))
        in_a_borrowed_child();
    else if (!strcmp(name, "none"))
        none();
    else if (!strcmp(name, "exec"))
        execvpe(rest[0], rest, environ), exit(4);
    else
        exit(2);
}

int main(int count, char **words)
{
    for (int i = 1; i < count; i++)
        step(words[i], words + i + 1);
    say("wrong", wrong);
    return wrong != 0;
}
