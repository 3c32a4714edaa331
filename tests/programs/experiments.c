/* build: gcc -O2 -fopenmp */
/* What a program could notice of serial experiments. `parent DIR`: rounds of regions, of which an experiment
 * runs some to the end, while others do what it must not do. `alone`: a region that one thread never ends. */
#define _GNU_SOURCE
#include "test.h"
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

enum { N = 64 };

static volatile sig_atomic_t children_ended, timer_fired;

static void on_child(int number)
{
    (void)number;
    children_ended++;
}

static void on_timer(int number)
{
    (void)number;
    timer_fired++;
}

/* Open files, told by their number alone. */
static long files(void)
{
    long open = 0;
    for (int fd = 0; fd < 1024; fd++)
        open += fcntl(fd, F_GETFD) >= 0;
    return open;
}

static void *shared_memory(int fd)
{
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
    if (at == MAP_FAILED)
        exit(3);
    return at;
}

static int file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        exit(3);
    return fd;
}

static int parent(const char *folder)
{
    struct sigaction child = {.sa_handler = on_child, .sa_flags = SA_RESTART};
    struct sigaction timer = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    sigaction(SIGCHLD, &child, NULL);
    sigaction(SIGUSR1, &timer, NULL);
    sigaction(SIGVTALRM, &timer, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_t id;
    struct itimerspec each = {{0, 20000000}, {0, 20000000}};
    struct itimerval each_us = {{0, 50000}, {0, 50000}};
    if (timer_create(CLOCK_MONOTONIC, &event, &id) != 0 || timer_settime(id, 0, &each, NULL) != 0)
        return 3;
    setitimer(ITIMER_VIRTUAL, &each_us, NULL);

    volatile long *anonymous = shared_memory(-1), *mapped;
    int mapped_fd = file(folder, "mapped"), written_fd = file(folder, "written");
    int read_fd = file(folder, "read");
    char unlinked[4096];
    snprintf(unlinked, sizeof unlinked, "%s/unlinked", folder);
    mapped = shared_memory(mapped_fd);
    for (int i = 0; i < 4096; i++)
        if (pwrite(read_fd, (char[]){(char)i}, 1, i) != 1)
            return 3;
    ftruncate(written_fd, 0);
    lseek(written_fd, 0, SEEK_SET);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends) != 0)
        return 3;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    long rounds = 0, wrong = 0, sum = 0, expected = 0, locked = 0, files_at_first = 0, each_round = 0;
    for (long i = 0; i < N; i++)
        each_round += work(2000, i);
    printf("first=1\n"); /* Stays in the buffer until the end. */
    while (going()) {
        rounds++;
        /* To the end: computes, allocates, writes, locks. */
#pragma omp parallel for reduction(+ : sum)
        for (long i = 0; i < N; i++) {
            char *memory = malloc(200000);
            memory[i] = 1;
            sum += work(2000, i) + memory[i] - 1;
            free(memory);
            if (i == 0 && write(written_fd, "x", 1) != 1)
                abort();
        }
        expected += each_round;
#pragma omp parallel for
        for (long i = 0; i < N; i++) {
            work(1000, i);
            pthread_mutex_lock(&lock);
            locked++;
            pthread_mutex_unlock(&lock);
        }
        /* Memory that others see. */
#pragma omp parallel for
        for (long i = 0; i < N; i++) {
            work(1000, i);
            if (i == 0)
                ++*anonymous;
        }
#pragma omp parallel for
        for (long i = 0; i < N; i++) {
            work(1000, i);
            if (i == 0)
                ++*mapped;
        }
        /* Where a file is read next. */
#pragma omp parallel for reduction(+ : wrong)
        for (long i = 0; i < N; i++) {
            work(1000, i);
            char byte;
            if (i == 0) {
                if (lseek(read_fd, 0, SEEK_CUR) == 4096)
                    lseek(read_fd, 0, SEEK_SET);
                wrong += read(read_fd, &byte, 1) != 1 || byte != (char)(rounds - 1);
            }
        }
        /* Others hear of it. */
#pragma omp parallel for reduction(+ : wrong)
        for (long i = 0; i < N; i++) {
            work(1000, i);
            if (i == 0)
                wrong += send(ends[0], "x", 1, 0) != 1;
        }
        /* Names of files. */
        close(open(unlinked, O_CREAT | O_RDWR, 0600));
#pragma omp parallel for reduction(+ : wrong)
        for (long i = 0; i < N; i++) {
            work(1000, i);
            if (i == 0)
                wrong += unlink(unlinked) != 0;
        }
        /* Processes, and the guards themselves: a signal, and a page that is writable again. */
#pragma omp parallel for reduction(+ : wrong)
        for (long i = 0; i < N; i++) {
            work(1000, i);
            if (i == 0)
                wrong += kill(getppid(), 0) != 0;
        }
#pragma omp parallel for reduction(+ : wrong)
        for (long i = 0; i < N; i++) {
            work(1000, i);
            if (i == 0) {
                wrong += mprotect((void *)anonymous, 4096, PROT_READ | PROT_WRITE) != 0;
                ++*anonymous;
            }
        }
        /* A fault of its own, which the program handles by ending: not in an experiment. */
        char got[2];
        wrong += recv(ends[1], got, 2, 0) != 1;
        wrong += recv(ends[1], got, 2, 0) != -1 || errno != EAGAIN;
        wrong += *anonymous != 2 * rounds;
        wrong += *mapped != rounds;
        wrong += sum != expected;
        wrong += locked != N * rounds;
        wrong += lseek(written_fd, 0, SEEK_END) != rounds;
        int status;
        wrong += waitpid(-1, &status, WNOHANG) != -1 || errno != ECHILD;
        /* The library has its own file from the first region on. */
        if (rounds == 3)
            files_at_first = files();
        wrong += rounds > 3 && files() != files_at_first;
    }
    int status;
    wrong += wait(&status) != -1 || errno != ECHILD;
    say("rounds", rounds);
    say("wrong", wrong);
    say("children_ended", children_ended);
    say("timer_fired", timer_fired > 0);
    return 0;
}

/* Two threads that wait for each other, one alone for ever. Their number is fixed, so nobody resizes it. */
static int alone(void)
{
    long rounds = 0;
    while (going()) {
        volatile int there[2] = {0, 0};
#pragma omp parallel num_threads(2)
        {
            int me = omp_get_thread_num();
            there[me] = 1;
            while (!there[!me])
                sched_yield();
        }
        rounds++;
        usleep(1000);
    }
    say("rounds", rounds);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "parent") == 0)
        return parent(argv[2]);
    return alone();
}
