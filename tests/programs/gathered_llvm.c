/* build: gcc -O2 -fopenmp */
/* As gathered.c, for what LLVM's runtime has calls of its own for: loops with static and runtime schedules,
 * ordered loops, reductions, regions whose `if` clause is false, and loops that are dealt out strictly. The
 * first argument says which. Prints how many results were wrong. */
#include "test.h"

#include <omp.h>

enum { TEAM = 4, LARGE = 8, N = 97 };

static long wrong, rounds;
static int own;
#pragma omp threadprivate(own)

static void check(int right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static int done[N];

/* Each number was done once. */
static void check_done(int count)
{
    for (int i = 0; i < N; i++)
        check(done[i] == (i < count));
    memset(done, 0, sizeof done);
}

/* Loops that are dealt out by thread number. */
static void by_static(void)
{
    static int whose[N];
    int last = -1;
    long sum = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : sum)
    {
        int me = omp_get_thread_num();
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            done[i]++, whose[i] = me;
#pragma omp single
        {
            check_done(N);
            for (int i = 0; i < N; i++)
                check(whose[i] == (i < 25 ? 0 : 1 + (i - 25) / 24));
        }
#pragma omp for schedule(static, 7) lastprivate(last)
        for (unsigned i = 0; i < N; i++)
            done[i]++, whose[i] = me, last = (int)i;
#pragma omp master
        {
            check_done(N);
            for (int i = 0; i < N; i++)
                check(whose[i] == i / 7 % TEAM);
        }
#pragma omp for schedule(static) collapse(2) nowait
        for (long i = 10; i > 0; i -= 3)
            for (unsigned long j = 5; j < 8; j++)
                sum += i * (long)j;
#pragma omp for simd schedule(static)
        for (int i = 0; i < 2; i++)
            sum += i;
    }
    check(last == N - 1 && sum == 22 * 18 + 1);
}

/* Loops that code has the runtime deal out as the user says. */
static void by_setting(void)
{
    int last = -1;
    unsigned long long sum = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : sum)
    {
#pragma omp for schedule(monotonic : runtime) lastprivate(last)
        for (int i = 0; i < N; i++)
            done[i]++, last = i;
#pragma omp single
        check_done(N);
#pragma omp for schedule(runtime) nowait
        for (unsigned i = 4000000000u; i > 5u; i -= 200000000u)
            sum += i;
#pragma omp for schedule(runtime)
        for (long i = -5; i > -5; i--)
            sum++;
#pragma omp for schedule(runtime)
        for (unsigned long long i = 0; i < 3; i++)
            sum += i << 40;
    }
    check(last == N - 1 && sum == 42000000000ull + (3ull << 40));
}

#define ORDERED(how, count, condition)                                                                       \
    _Pragma(how) for (int i = 0; i < count; i++)                                                             \
    {                                                                                                        \
        work(20, i);                                                                                         \
        if (condition) {                                                                                     \
            _Pragma("omp ordered") order[reached++] = i;                                                     \
        }                                                                                                    \
    }                                                                                                        \
    _Pragma("omp single")                                                                                    \
    {                                                                                                        \
        int expected = 0;                                                                                    \
        for (int i = 0; i < count; i++)                                                                      \
            if (condition)                                                                                   \
                check(order[expected++] == i);                                                               \
        check(reached == expected);                                                                          \
        reached = 0;                                                                                         \
    }

static void by_turns(void)
{
    static int order[N], reached;
#pragma omp parallel num_threads(TEAM)
    {
        ORDERED("omp for ordered", N, 1)
        ORDERED("omp for ordered schedule(static, 3)", N, i % 3)
        ORDERED("omp for ordered schedule(dynamic)", N, i % 5 == 2)
        ORDERED("omp for ordered schedule(dynamic, 4)", N, 1)
        ORDERED("omp for ordered schedule(guided)", N, i & 1)
        ORDERED("omp for ordered schedule(runtime)", 3, 1)
        ORDERED("omp for ordered schedule(static)", 2, 1)
    }
}

struct pair {
    long a, b;
};
#pragma omp declare reduction(both : struct pair : omp_out.a += omp_in.a, omp_out.b += omp_in.b)             \
    initializer(omp_priv = (struct pair){0, 0})

/* Sums whose bits depend on the order in which they are added up: for a large team, always the same one. */
static void by_adding(void)
{
    static double before[2];
    double sum = 0, other = 0;
    long count = 0, most = 0;
#pragma omp parallel num_threads(LARGE) reduction(+ : sum, count)
    {
        int me = omp_get_thread_num();
        for (int i = 1; i < 50; i++)
            sum += 1.0 / (i + 50 * me * me);
        count++;
#pragma omp for schedule(static) reduction(+ : other) reduction(max : most)
        for (int i = 0; i < 1000; i++)
            other += 1.0 / (i + 3), most = i > most ? i : most;
        check(most == 999 && (other == before[1] || rounds == 0));
    }
    check(count == LARGE && (sum == before[0] || rounds == 0));
    before[0] = sum, before[1] = other;
}

static void by_adding_one_by_one(void)
{
    long count = 0;
    long small = 0;
    int bits = -1;
    struct pair pair = {0, 0}, inner = {5, 0};
#pragma omp parallel num_threads(TEAM) reduction(+ : small) reduction(& : bits) reduction(both : pair)
    {
        small += omp_get_thread_num();
        bits &= ~(1 << omp_get_thread_num());
        pair.a++, pair.b += omp_get_thread_num();
#pragma omp for reduction(both : inner)
        for (int i = 0; i < 10; i++)
            inner.a++, inner.b += i;
        check(inner.a == 15 && inner.b == 45);
#pragma omp for reduction(+ : count)
        for (int i = 0; i < 10; i++)
            count++;
        check(count == 10);
    }
    check(small == 6 && bits == ~15 && pair.a == TEAM && pair.b == 6);
}

/* Regions of one thread, in which it does a whole loop. */
static void by_nesting(void)
{
    long sum = 0, singles = 0;
    volatile int no = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : sum, singles)
    {
        int me = omp_get_thread_num();
        int thread = 7;
#pragma omp for schedule(dynamic)
        for (int round = 0; round < 6; round++) {
#pragma omp parallel if (no) num_threads(2) reduction(+ : sum) firstprivate(thread)
            {
                check(omp_get_num_threads() == 1 && omp_get_thread_num() == 0 && omp_get_level() == 2);
                check(omp_get_ancestor_thread_num(1) == me && thread == 7);
#pragma omp for schedule(dynamic, 3) ordered
                for (int i = 0; i < 10; i++) {
#pragma omp parallel num_threads(3) reduction(+ : sum)
                    {
                        check(omp_get_level() == 3 && omp_get_num_threads() == 1);
#pragma omp for schedule(guided)
                        for (int j = 0; j < 2; j++)
                            sum += j;
                    }
#pragma omp ordered
                    sum += i;
                }
#pragma omp barrier
#pragma omp single copyprivate(thread)
                thread = 8;
                check(thread == 8);
#pragma omp for schedule(static, 2)
                for (int i = 0; i < 10; i++)
                    sum += i;
            }
            check(omp_get_thread_num() == me && omp_get_num_threads() == TEAM && omp_get_level() == 1);
        }
#pragma omp single
        singles++;
#pragma omp master
        singles += 10;
    }
    check(sum == 6 * (10 + 45 + 45) && singles == 11);
}

/* Variables of threads that begin as the master's. */
static void by_copying(void)
{
    own = (int)rounds;
#pragma omp parallel num_threads(TEAM) copyin(own)
    {
        check(own == (int)rounds);
        own += omp_get_thread_num();
        int all[3] = {0, 0, 0};
#pragma omp single copyprivate(all)
        for (int i = 0; i < 3; i++)
            all[i] = i + 5;
        check(all[0] == 5 && all[2] == 7);
    }
#pragma omp parallel num_threads(TEAM)
    check(own == (int)rounds + omp_get_thread_num());
}

/* The master ends the process while others compute. */
static void by_exit(void)
{
#pragma omp parallel num_threads(TEAM)
    {
        int me = omp_get_thread_num();
        for (int i = 0; i < 20; i++) {
            void *block = malloc((size_t)(100 + i));
            work(200, i + me);
            free(block);
#pragma omp barrier
            if (rounds == 400 && me == 0 && i == 10)
                exit(7);
            for (int more = 0; rounds == 400 && more < 200000; more++)
                free(malloc((size_t)(100 + more % 900)));
        }
    }
}

/* A loop's tasks as newer compilers have them: each with exactly so many iterations. */
struct task {
    void *shared;
    int (*routine)(int, struct task *);
    int part;
    void *data[2];
    unsigned long first, last;
    long step;
    int has_last;
    void *reductions;
};
struct task *__kmpc_omp_task_alloc(void *, int, int, size_t, size_t, int (*)(int, struct task *));
void __kmpc_taskloop_5(void *, int, struct task *, int, unsigned long *, unsigned long *, long, int, int,
                       unsigned long, int, void (*)(struct task *, struct task *, int));
int __kmpc_global_thread_num(void *);

static int tasks;

static int strict_part(int number, struct task *task)
{
    check(number == __kmpc_global_thread_num(NULL) && task->has_last == (task->last == 98));
    check((long)(task->first - task->last) == (task->has_last ? 3 : 8) * -2);
    for (unsigned long i = task->first; i <= task->last; i += 2)
        __atomic_fetch_add(&done[i / 2], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&tasks, 1, __ATOMIC_RELAXED);
    return 0;
}

static void say_last(struct task *to, struct task *from, int last)
{
    check(to->routine == from->routine && to != from);
    to->has_last = last;
}

static void by_dealing_strictly(void)
{
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    for (int condition = 0; condition < 2; condition++) {
        struct task *task =
            __kmpc_omp_task_alloc(NULL, __kmpc_global_thread_num(NULL), 1, sizeof *task, 0, strict_part);
        task->first = 2;
        task->last = 98;
        task->step = 2;
        done[0]++;
        __kmpc_taskloop_5(NULL, __kmpc_global_thread_num(NULL), task, condition, &task->first, &task->last, 2,
                          0, 1, 9, 1, say_last);
        check_done(50);
        check(tasks == 6);
        tasks = 0;
    }
}

static const struct kind kinds[] = {
    {"static", by_static}, {"setting", by_setting}, {"turns", by_turns},
    {"adding", by_adding}, {"one-by-one", by_adding_one_by_one},
    {"nesting", by_nesting}, {"copying", by_copying},
    {"strictly", by_dealing_strictly}, {"exit", by_exit},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

int main(int count, char **words)
{
    return do_rounds(kinds, KINDS, 0, count, words, &rounds, &wrong);
}
