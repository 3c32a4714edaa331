/* What the oneTBB kernels share: work with the same result to the last bit, and counting who does it. Sums
 * are of integers and wrap around, so that the order doesn't matter. */
#ifndef KERNELS_TBB_COMMON_H
#define KERNELS_TBB_COMMON_H

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <tbb/global_control.h>

extern "C" {
#include "common.h"
}

/* Pieces of work a class; each takes about 0.1 ms. */
static const long PIECES[] = {1 << 11, 1 << 14, 1 << 17};

/* The sum of all pieces of each class, as one thread computes it. */
static const uint64_t SUMS[] = {UINT64_C(0x4a48e2e265e2d9c7), UINT64_C(0x943d863fd11b4fe9),
                                UINT64_C(0x5b1e3b6950345aef)};

static std::atomic<int> at_work, most_at_work;

/* One piece: xorshift steps from a seed of its own. */
static inline uint64_t piece(long number)
{
    int now = at_work.fetch_add(1, std::memory_order_relaxed) + 1;
    int most = most_at_work.load(std::memory_order_relaxed);
    while (now > most && !most_at_work.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
    uint64_t x = (static_cast<uint64_t>(number) + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (int step = 0; step < 50000; step++)
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    at_work.fetch_sub(1, std::memory_order_relaxed);
    return x;
}

/* The user's limit, by the variable that says so to the other kernels. */
static inline std::unique_ptr<tbb::global_control> users_limit()
{
    const char *said = std::getenv("OMP_NUM_THREADS");
    long threads = said ? std::strtol(said, nullptr, 10) : 0;
    if (threads <= 0)
        return nullptr;
    return std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, threads);
}

/* Runs `all`, which returns the sum of all pieces, as often as was asked for, and says what came out. */
template <typename All> int run_pieces(const struct program *program, int argc, char **argv, All all)
{
    struct run run = begin(program, argc, argv);
    auto limit = users_limit();
    uint64_t sum = 0;
    for (int i = 0; i < run.repeat; i++) {
        double start = now();
        sum = all(run.form, PIECES[run.size]);
        run.seconds += now() - start;
        run.verified = run.verified && sum == SUMS[run.size];
    }
    seen(most_at_work.load());
    return finish(&run, "%016llx", static_cast<unsigned long long>(sum));
}

#endif
