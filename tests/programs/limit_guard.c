/* build: gcc -O2 -fopenmp */
/* Lua's and Ruby's way: a thread's limit is an address so far below its first frame, kept in a structure that
 * is handed from call to call. */
#include "test.h"
#include <stdint.h>

struct engine {
    uintptr_t limit;
    long overflows;
};

static __attribute__((noinline)) int is_deep(const struct engine *engine)
{
    char here;
    return (uintptr_t)&here < engine->limit;
}

static __attribute__((noinline)) long eval(struct engine *engine, long depth)
{
    if (is_deep(engine)) {
        engine->overflows++;
        return 0;
    }
    return depth ? eval(engine, depth - 1) + work(2, depth) : 1;
}

static struct engine engines[4];

int main(void)
{
    long rounds = 0, wrong = 0;
    do {
        int next = 0;
#pragma omp parallel num_threads(4)
        {
            static _Thread_local struct engine *own;
            char here;
            if (!own) {
                own = &engines[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED)];
                own->limit = (uintptr_t)&here - (256 << 10);
            }
            for (int i = 0; i < 3; i++) {
                eval(own, 30);
#pragma omp barrier
            }
        }
        rounds++;
    } while (going());
    for (int i = 0; i < 4; i++)
        wrong += engines[i].overflows;
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
