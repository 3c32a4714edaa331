/* build: gcc -O2 */
/* A runtime with some of LLVM's entry points, whose teams are user-level threads of the one that calls: they
 * take turns at barriers. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <ucontext.h>

enum { TEAM = 4, STACK = 1 << 18 };
static ucontext_t master, members[TEAM];
static int running = -1, number, ended, requested;
static void (*micro)(int *, int *, void *);
static void *argument;

int omp_get_thread_num(void)
{
    return running < 0 ? 0 : running;
}

int omp_get_num_threads(void)
{
    return running < 0 ? 1 : TEAM;
}

int omp_get_max_threads(void)
{
    return TEAM;
}

int omp_in_parallel(void)
{
    return running >= 0;
}

int __kmpc_global_thread_num(void *place)
{
    (void)place;
    return omp_get_thread_num();
}

void __kmpc_push_num_threads(void *place, int thread, int threads)
{
    (void)place, (void)thread;
    requested = threads;
}

void __kmpc_barrier(void *place, int thread)
{
    (void)place, (void)thread;
    if (running >= 0)
        swapcontext(&members[running], &master);
}

static void begin(void)
{
    int me = running, none = 0;
    micro(&me, &none, argument);
    ended |= 1 << running;
}

void __kmpc_fork_call(void *place, int count, void *function, ...)
{
    (void)place;
    va_list list;
    va_start(list, function);
    argument = count > 0 ? va_arg(list, void *) : NULL;
    va_end(list);
    micro = (void (*)(int *, int *, void *))function;
    ended = 0;
    static char stacks[TEAM][STACK];
    for (number = 0; number < TEAM; number++) {
        getcontext(&members[number]);
        members[number].uc_stack.ss_sp = stacks[number];
        members[number].uc_stack.ss_size = STACK;
        members[number].uc_link = &master;
        makecontext(&members[number], begin, 0);
    }
    while (ended != (1 << TEAM) - 1)
        for (running = 0; running < TEAM; running++)
            if (!(ended & 1 << running))
                swapcontext(&master, &members[running]);
    running = -1;
}
