/* build: gcc -O2 -fopenmp */
/* The entry points that gcc before 4.9 called, as its code did: start, the caller's own part, end. */
#include "test.h"
#include <stdbool.h>

typedef void body(void *);
void GOMP_parallel_start(body *, void *, unsigned);
void GOMP_parallel_end(void);
void GOMP_parallel_loop_static_start(body *, void *, unsigned, long, long, long, long);
void GOMP_parallel_loop_dynamic_start(body *, void *, unsigned, long, long, long, long);
void GOMP_parallel_loop_guided_start(body *, void *, unsigned, long, long, long, long);
void GOMP_parallel_loop_runtime_start(body *, void *, unsigned, long, long, long);
bool GOMP_loop_static_next(long *, long *);
bool GOMP_loop_dynamic_next(long *, long *);
bool GOMP_loop_guided_next(long *, long *);
bool GOMP_loop_runtime_next(long *, long *);
void GOMP_loop_end_nowait(void);
void GOMP_parallel_sections_start(body *, void *, unsigned, unsigned);
unsigned GOMP_sections_next(void);
void GOMP_sections_end_nowait(void);
void GOMP_barrier(void);

struct data {
    long sum, threads;
};

static void add(long *to, long value)
{
    __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}

static void plain(void *at)
{
    struct data *data = at;
    add(&data->threads, 1);
    GOMP_barrier();
    add(&data->sum, __atomic_load_n(&data->threads, __ATOMIC_RELAXED));
}

#define LOOP(kind)                                                                                   \
    static void kind##_loop(void *at)                                                                \
    {                                                                                                \
        struct data *data = at;                                                                      \
        long from, to;                                                                               \
        add(&data->threads, 1);                                                                      \
        while (GOMP_loop_##kind##_next(&from, &to))                                                  \
            for (long i = from; i < to; i++)                                                         \
                add(&data->sum, i);                                                                  \
        GOMP_loop_end_nowait();                                                                      \
    }
LOOP(static)
LOOP(dynamic)
LOOP(guided)
LOOP(runtime)

static void three_sections(void *at)
{
    struct data *data = at;
    add(&data->threads, 1);
    for (unsigned which; (which = GOMP_sections_next());)
        add(&data->sum, which);
    GOMP_sections_end_nowait();
}

static void outer(void *at)
{
    struct data *data = at, inner = {0};
    add(&data->threads, 1);
    GOMP_parallel_start(plain, &inner, 0);
    plain(&inner);
    GOMP_parallel_end();
    add(&data->sum, inner.sum == inner.threads * inner.threads);
}

#define RUN(start, function)                                                                         \
    do {                                                                                             \
        data = (struct data){0};                                                                     \
        start;                                                                                       \
        function(&data);                                                                             \
        GOMP_parallel_end();                                                                         \
        last = data.threads;                                                                         \
        largest = last > largest ? last : largest;                                                   \
    } while (0)

int main(void)
{
    long rounds = 0, wrong = 0, largest = 0, last = 0;
    struct data data;
    do {
        RUN(GOMP_parallel_start(plain, &data, 0), plain);
        wrong += data.sum != data.threads * data.threads;
        RUN(GOMP_parallel_loop_static_start(static_loop, &data, 0, 0, 100, 1, 0), static_loop);
        wrong += data.sum != 4950;
        RUN(GOMP_parallel_loop_dynamic_start(dynamic_loop, &data, 0, 0, 100, 1, 3), dynamic_loop);
        wrong += data.sum != 4950;
        RUN(GOMP_parallel_loop_guided_start(guided_loop, &data, 0, 0, 100, 1, 1), guided_loop);
        wrong += data.sum != 4950;
        RUN(GOMP_parallel_loop_runtime_start(runtime_loop, &data, 0, 0, 100, 1), runtime_loop);
        wrong += data.sum != 4950;
        RUN(GOMP_parallel_sections_start(three_sections, &data, 0, 3), three_sections);
        wrong += data.sum != 6;
        RUN(GOMP_parallel_start(outer, &data, 0), outer);
        wrong += data.sum != data.threads;
        RUN(GOMP_parallel_start(plain, &data, 3), plain);
        wrong += data.sum != 9;
        largest = largest > 2 ? 2 : largest;
        RUN(GOMP_parallel_start(plain, &data, 0), plain);
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    say("largest", largest);
    say("last", last);
    return wrong != 0;
}
