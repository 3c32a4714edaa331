/* What an empty parallel_for with two pieces costs: nanoseconds, median of batches. */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <tbb/parallel_for.h>
#include <vector>

int main()
{
    enum { BATCHES = 200, LOOPS = 1000 };
    std::vector<double> batches;
    for (int batch = 0; batch < BATCHES; batch++) {
        auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < LOOPS; i++)
            tbb::parallel_for(0, 2, [](int number) { asm volatile("" : : "r"(number)); });
        std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
        batches.push_back(took.count() / LOOPS);
    }
    std::sort(batches.begin(), batches.end());
    std::printf("{\"median_ns\":%.1f,\"fastest_ns\":%.1f}\n", batches[BATCHES / 2], batches[0]);
    return 0;
}
