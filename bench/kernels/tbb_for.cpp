/* One level of parallel_for: many short loops, or one. Scales perfectly, as ep does. */
#include "tbb_common.h"

#include <tbb/parallel_for.h>

/* In the loops form the pieces are cut into this many loops. */
static const long LOOPS = 64;

static uint64_t loop(long begin, long end)
{
    std::atomic<uint64_t> sum{0};
    auto add = [&](long number) { sum.fetch_add(piece(number), std::memory_order_relaxed); };
    tbb::parallel_for(begin, end, add);
    return sum;
}

int main(int argc, char **argv)
{
    static const char *const forms[] = {"loops", "region", nullptr};
    static const char help[] = "independent pieces (oneTBB parallel_for)";
    static const struct program program = {"tbb_for", help, forms, nullptr};
    return run_pieces(&program, argc, argv, [](int form, long pieces) {
        uint64_t sum = 0;
        long loops = form == 0 ? LOOPS : 1;
        for (long number = 0; number < loops; number++)
            sum += loop(pieces / loops * number, pieces / loops * (number + 1));
        return sum;
    });
}
