/* Parallel loops within a parallel loop: in the arena of the outer one, or each in an arena of its own. */
#include "tbb_common.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

/* Pieces of an inner loop. */
static const long INNER = 32;

static uint64_t inner_loop(long outer)
{
    std::atomic<uint64_t> sum{0};
    tbb::parallel_for(outer * INNER, (outer + 1) * INNER,
                      [&](long number) { sum.fetch_add(piece(number), std::memory_order_relaxed); });
    return sum;
}

int main(int argc, char **argv)
{
    static const char *const forms[] = {"loops", "arenas", nullptr};
    static const struct program program = {"tbb_nested", "loops within a loop (oneTBB)", forms, nullptr};
    return run_pieces(&program, argc, argv, [](int form, long pieces) {
        std::atomic<uint64_t> sum{0};
        tbb::parallel_for(0L, pieces / INNER, [&](long outer) {
            if (form == 0) {
                sum += inner_loop(outer);
            } else {
                tbb::task_arena arena;
                sum += arena.execute([outer] { return inner_loop(outer); });
            }
        });
        return sum.load();
    });
}
