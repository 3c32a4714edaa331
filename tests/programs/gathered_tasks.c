/* build: gcc -O2 -fopenmp */
/* Regions of fixed size whose threads create tasks: trees, chains, producers, dependences, groups, loops, and
 * tasks that wait for each other. The first argument says which; without one, all by turns. Prints how many
 * results were wrong. */
#include "test.h"

#include <omp.h>

enum { TEAM = 4 };

/* clang's tasks copy no arrays of variable length, and it is old. */
#ifdef __clang__
#define LENGTH(i) 3250
#define STRICTLY(iterations) iterations
#else
#define LENGTH(i) (100 + 700 * (i))
#define STRICTLY(iterations) strict : iterations
#endif

static long wrong, rounds;
static int own;
#pragma omp threadprivate(own)

static void check(int right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static long fibonacci(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fibonacci(n - 1);
#pragma omp task shared(b) if (n > 4)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static void by_tree(void)
{
    long result = 0;
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    result = fibonacci(15);
    check(result == 610);
}

static long links;

static void next_link(int left)
{
    links++;
    if (left > 0) {
#pragma omp task firstprivate(left)
        next_link(left - 1);
    }
}

/* Each task creates the next one: the stack doesn't grow. */
static void by_chain(void)
{
    links = 0;
#pragma omp parallel num_threads(TEAM)
    {
#pragma omp master
        next_link(20000);
#pragma omp barrier
        check(links == 20001);
    }
    long inner = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : inner)
    {
        static int count[TEAM][16];
        int me = omp_get_thread_num();
        count[me][0] = 0;
#pragma omp parallel num_threads(2) firstprivate(me)
        {
#pragma omp task
            {
                count[me][0]++;
#pragma omp task
                count[me][0] += omp_get_thread_num() == 0 && omp_get_level() == 2;
            }
#pragma omp barrier
            check(count[me][0] == 2);
#pragma omp taskgroup
            for (int i = 0; i < 10; i++) {
#pragma omp task
                count[me][0]++;
            }
            check(count[me][0] == 12);
#pragma omp task
            count[me][0]++;
        }
        inner += count[me][0];
    }
    check(inner == 13 * TEAM);
}

/* One creates many, all may run them, and those see the variables of whoever runs them. */
static void by_producing(void)
{
    long sum = 0, ran = 0, before = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : ran, before)
    {
        before += own;
#pragma omp single nowait
        for (int i = 0; i < 1000; i++) {
#pragma omp task shared(sum)
            {
                int me = omp_get_thread_num();
                check(omp_get_num_threads() == TEAM && me < TEAM && !omp_in_final());
                own++;
                work(20, i);
#pragma omp critical
                sum += i;
                check(me == omp_get_thread_num());
            }
        }
#pragma omp barrier
        check(sum == 499500);
        ran += own;
#pragma omp barrier
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 20; i++) {
#pragma omp task shared(sum)
#pragma omp atomic
            sum++;
        }
        check(sum == 499520);
#pragma omp barrier
#pragma omp task shared(sum)
#pragma omp atomic
        sum++;
    }
    check(ran == before + 1000 && sum == 499520 + TEAM);
}

enum { CELLS = 12 };

/* A pipeline over cells, a baton, readers and writers. */
static void by_depending(void)
{
    static long cell[CELLS + 1][CELLS + 1];
    long baton = 0, in_order = 0, written = 0, read = 0, both = 0, waited = 0;
    for (int i = 0; i <= CELLS; i++)
        cell[0][i] = cell[i][0] = 1;
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    {
        for (int i = 1; i <= CELLS; i++)
            for (int j = 1; j <= CELLS; j++) {
#pragma omp task depend(in : cell[i - 1][j], cell[i][j - 1]) depend(out : cell[i][j])
                cell[i][j] = (cell[i - 1][j] + cell[i][j - 1]) % 1000003;
            }
        for (long i = 0; i < 300; i++) {
#pragma omp task depend(inout : baton) shared(in_order)
            in_order += baton++ == i;
        }
        for (int i = 0; i < 20; i++) {
#pragma omp task depend(out : written) shared(written)
            written++;
            for (int j = 0; j < 5; j++) {
#pragma omp task depend(in : written) shared(written, read)
                {
                    int right = written == i + 1;
#pragma omp atomic
                    read += right;
                }
            }
        }
        for (int i = 0; i < 20; i++) {
#pragma omp task depend(mutexinoutset : both) shared(both)
            both++;
        }
#pragma omp task depend(out : waited) shared(waited)
        {
            work(1000, 1);
            waited = 7;
        }
#pragma omp taskwait depend(in : waited)
        check(waited == 7);
#pragma omp task depend(inout : waited) shared(waited)
        waited = 8;
#pragma omp task depend(in : waited) if (0) shared(waited)
        check(waited == 8);
        omp_depend_t object;
#pragma omp depobj(object) depend(inout : both)
#pragma omp task depend(depobj : object) shared(both)
        both *= 2;
#pragma omp depobj(object) destroy
#pragma omp taskwait
        check(both == 40 && in_order == 300 && read == 100);
    }
    long expected[CELLS + 1][CELLS + 1];
    for (int i = 0; i <= CELLS; i++)
        for (int j = 0; j <= CELLS; j++)
            expected[i][j] = i && j ? (expected[i - 1][j] + expected[i][j - 1]) % 1000003 : 1;
    check(memcmp(expected, cell, sizeof expected) == 0);
}

static void by_grouping(void)
{
    long sum = 0, outside = 0;
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    {
#pragma omp task shared(outside)
        {
#pragma omp atomic
            outside++;
        }
#pragma omp taskgroup
        {
            for (int i = 0; i < 10; i++) {
#pragma omp task shared(sum)
                {
                    for (int j = 0; j < 5; j++) {
#pragma omp task shared(sum)
#pragma omp atomic
                        sum++;
                    }
#pragma omp taskgroup
                    {
#pragma omp task shared(sum)
#pragma omp atomic
                        sum += 100;
                    }
                }
            }
        }
        check(sum == 1050);
    }
    check(outside == 1);
}

static void by_looping(void)
{
    long sum = 0, last = 0, tasks = 0;
    unsigned long long big = 0;
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    {
#pragma omp taskloop num_tasks(7) shared(sum)
        for (long i = 0; i < 100; i++) {
#pragma omp atomic
            sum += i;
        }
        check(sum == 4950);
#pragma omp taskloop grainsize(8) shared(sum) lastprivate(last)
        for (long i = 100; i > 0; i -= 3) {
#pragma omp atomic
            sum += i;
            last = i;
        }
        check(sum == 4950 + 1717 && last == 1);
#pragma omp taskloop grainsize(STRICTLY(9)) shared(tasks)
        for (unsigned long long i = 1ull << 63; i < (1ull << 63) + 100; i++) {
#pragma omp atomic
            tasks++;
        }
        check(tasks == 100);
#pragma omp taskloop shared(big) nogroup if (0)
        for (unsigned long long i = 20; i > 2; i -= 3)
            big += i;
        check(big == 20 + 17 + 14 + 11 + 8 + 5);
#pragma omp taskloop shared(big) nogroup
        for (int i = 5; i < 5; i++)
            big = 0;
#pragma omp taskwait
    }
    check(big == 75);
}

static long together(const char *bytes, int count)
{
    long sum = 0;
    for (int i = 0; i < count; i++)
        sum += bytes[i];
    return sum;
}

/* Data of all sizes, and tasks that are run at once. */
static void by_copying(void)
{
    long sum = 0;
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    {
        char small[150], large[1000], huge[40000];
        memset(small, 1, sizeof small);
        memset(large, 1, sizeof large);
        memset(huge, 1, sizeof huge);
        for (int i = 0; i < 10; i++) {
            char variable[LENGTH(i)];
            memset(variable, 1, sizeof variable);
#pragma omp task firstprivate(small) shared(sum)
#pragma omp atomic
            sum += together(small, sizeof small);
#pragma omp task firstprivate(large) shared(sum)
#pragma omp atomic
            sum += together(large, sizeof large);
#pragma omp task firstprivate(huge) shared(sum)
#pragma omp atomic
            sum += together(huge, sizeof huge);
#pragma omp task firstprivate(variable) shared(sum)
#pragma omp atomic
            sum += together(variable, LENGTH(i));
#pragma omp task firstprivate(variable) shared(sum) if (0)
            {
                long here = together(variable, LENGTH(i));
#pragma omp atomic
                sum += here;
            }
#pragma omp task final(i & 1) mergeable firstprivate(i) shared(sum)
            {
                check(omp_in_final() == (i & 1));
                long inside = 0;
#pragma omp task shared(inside)
                inside = 5 + omp_in_final();
                if (i & 1)
                    check(inside == 6);
#pragma omp taskwait
                check(inside == 5 + (i & 1));
#pragma omp atomic
                sum += inside;
            }
        }
    }
    long variable = 2 * (10 * 100 + 700 * 45);
    check(sum == 10 * (150 + 1000 + 40000) + variable + 55);
}

/* Tasks that may go on elsewhere behind each task that they create, and each wait. clang's runtime takes only
 * simple ones. */
static void by_parts(void)
{
    long begun = 0, ended = 0, children = 0, grouped = 0;
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    {
        for (int i = 0; i < 30; i++) {
#pragma omp task untied shared(begun, ended) firstprivate(i)
            {
#pragma omp atomic
                begun += i;
#pragma omp taskyield
#pragma omp atomic
                ended += i;
            }
#pragma omp task untied shared(begun, ended, children) firstprivate(i)
            {
#pragma omp atomic
                begun += i;
#pragma omp task shared(children)
                {
#pragma omp atomic
                    children++;
                }
#pragma omp taskwait
#pragma omp atomic
                ended += i;
            }
#pragma omp task untied shared(begun, ended, grouped) firstprivate(i)
            {
#pragma omp atomic
                begun += i;
#pragma omp taskgroup
                {
#pragma omp task shared(grouped)
                    {
#pragma omp atomic
                        grouped++;
                    }
                }
#pragma omp task shared(grouped)
                {
#pragma omp atomic
                    grouped++;
                }
#pragma omp taskyield
#pragma omp atomic
                ended += i;
            }
        }
#pragma omp taskwait
        check(begun == 3 * 435 && ended == 3 * 435 && children == 30 && grouped >= 30);
    }
    check(grouped == 60);
}

/* A task that waits for a later one, in the kernel and by looking. */
static void by_serving(void)
{
    int to[2], asked = 0;
    if (pipe(to))
        exit(3);
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    {
#pragma omp task shared(to)
        {
            char byte = 0;
            check(read(to[0], &byte, 1) == 1 && byte == 9);
        }
#pragma omp task shared(asked)
        {
            int seen = 0;
            while (!seen) {
#pragma omp taskyield
#pragma omp atomic read
                seen = asked;
            }
        }
#pragma omp task shared(to, asked)
        {
            char byte = 9;
            check(write(to[1], &byte, 1) == 1);
#pragma omp atomic write
            asked = 1;
        }
    }
    close(to[0]), close(to[1]);
}

static const struct kind kinds[] = {
    {"tree", by_tree}, {"chain", by_chain}, {"producing", by_producing}, {"depending", by_depending},
    {"grouping", by_grouping}, {"looping", by_looping}, {"copying", by_copying},
    {"parts", by_parts}, {"serving", by_serving},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

int main(int count, char **words)
{
    return do_rounds(kinds, KINDS, KINDS, count, words, &rounds, &wrong);
}
