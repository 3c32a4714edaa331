/* Loops that look like waiting, and compute. */
#include <omp.h>
struct node { struct node *next; long value; };
static long values[1024], sum;
static double total;
extern volatile long limit;

static void add(double what)
{
    double before, after;
    do {
        __atomic_load(&total, &before, __ATOMIC_RELAXED);
        after = before + what;
    } while (!__atomic_compare_exchange(&total, &before, &after, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

static long last(const struct node *node)
{
    while (node->next)
        node = node->next;
    return node->value;
}

static long search(long what)
{
    long at = 0;
    while (values[at] != what) {
        at++;
#pragma omp flush
    }
    return at;
}

static long largest(long n)
{
    long most = values[0];
    for (long i = 0; i < n; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

static long length(const char *text)
{
    const char *end = text;
    while (*end)
        end++;
    return end - text;
}

static long patient(void)
{
    long tries = 0;
    while (tries < limit) {
        tries++;
        __sync_synchronize();
    }
    return tries;
}

static void until(double end)
{
    while (omp_get_wtime() < end)
        ;
}

void compute(const struct node *list, const char *text, long n)
{
#pragma omp parallel
    {
        add((double)last(list));
        long mine = search(n) + largest(n) + length(text) + patient();
        until(omp_get_wtime() + 1e-6);
#pragma omp atomic
        sum += mine;
    }
}
