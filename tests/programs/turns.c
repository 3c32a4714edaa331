/* build: gcc -O2 -fopenmp */
/* Regions whose threads work as the first word says. With `even*` each works by itself; with the others only
 * one at a time can work, and the rest wait for tasks, criticals, turns. Prints what was done and what had to
 * be done, each as a sum. */
#include "test.h"

#include <omp.h>

enum { PIECES = 16, STEPS = 4000 };

static long sum, after;
static struct {
    double a, b;
} wide;

static void piece(long i)
{
    long made = work(STEPS, i);
    __asm__ volatile("" : : "r"(made));
#pragma omp atomic
    sum++;
}

static void even(void)
{
#pragma omp parallel for schedule(static)
    for (long i = 0; i < PIECES; i++)
        piece(i);
}

static void even_tasks(void)
{
#pragma omp parallel
#pragma omp single nowait
    for (long i = 0; i < PIECES; i++) {
#pragma omp task
        piece(i);
    }
}

static void tree(long i)
{
    if (i >= PIECES)
        return piece(i);
#pragma omp task
    tree(2 * i);
#pragma omp task
    tree(2 * i + 1);
#pragma omp taskwait
}

/* Tasks that wait for tasks, nearly all of them at the region's end. */
static void even_tree(void)
{
#pragma omp parallel
#pragma omp single nowait
    tree(1);
}

static void chain(void)
{
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < PIECES; i++) {
#pragma omp task depend(inout : after)
        piece(i);
    }
}

/* Task by task, each with the wait for it. */
static void taskwaits(void)
{
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < PIECES; i++) {
#pragma omp task
        piece(i);
#pragma omp taskwait
    }
}

static void late_chain(void)
{
#pragma omp parallel
#pragma omp single nowait
    for (long i = 0; i < PIECES; i++) {
#pragma omp task depend(inout : after)
        piece(i);
    }
}

static void taskloop(void)
{
#pragma omp parallel
#pragma omp single
#pragma omp taskloop num_tasks(1)
    for (long i = 0; i < PIECES; i++)
        piece(i);
}

static void critical(void)
{
#pragma omp parallel for schedule(static)
    for (long i = 0; i < PIECES; i++) {
#pragma omp critical
        piece(i);
    }
}

static void named(void)
{
#pragma omp parallel for schedule(static)
    for (long i = 0; i < PIECES; i++) {
#pragma omp critical(mine)
        piece(i);
    }
}

static omp_lock_t lock;

/* The last call of a function is a jump. */
static __attribute__((noinline)) void take(void)
{
    omp_set_lock(&lock);
}

static void locked(void)
{
#pragma omp parallel for schedule(static)
    for (long i = 0; i < PIECES; i++) {
        take();
        piece(i);
        omp_unset_lock(&lock);
    }
}

/* One thread's tasks, one after the other; the end of the group is the last call of the region's function. */
static void group(void)
{
#pragma omp parallel
#pragma omp single nowait
#pragma omp taskgroup
    for (long i = 0; i < PIECES; i++) {
#pragma omp task depend(inout : after)
        piece(i);
    }
}

static void ordered(void)
{
#pragma omp parallel for ordered schedule(static, 1)
    for (long i = 0; i < PIECES; i++) {
#pragma omp ordered
        piece(i);
    }
}

static void copied(void)
{
    double from = 0;
#pragma omp parallel private(from)
    for (long i = 0; i < PIECES; i++) {
#pragma omp single copyprivate(from)
        {
            piece(i);
            from = (double)i;
        }
        if (from != (double)i)
            wide.a += 1;
    }
}

int main(int count, char **words)
{
    static const struct {
        const char *name;
        void (*region)(void);
    } all[] = {
        {"even", even}, {"even_tasks", even_tasks}, {"even_tree", even_tree}, {"chain", chain},
        {"taskwaits", taskwaits}, {"late_chain", late_chain}, {"taskloop", taskloop}, {"critical", critical},
        {"named", named}, {"ordered", ordered}, {"copied", copied}, {"locked", locked}, {"group", group},
    };
    void (*region)(void) = 0;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (count > 1 && !strcmp(words[1], all[i].name))
            region = all[i].region;
    if (!region)
        return 2;
    omp_init_lock(&lock);
    long rounds = 0;
    do {
        region();
        rounds++;
    } while (going());
    say("done", sum);
    say("asked", rounds * PIECES);
    say("stray", (long)(wide.a + wide.b));
    return sum != rounds * PIECES || wide.a != 0;
}
