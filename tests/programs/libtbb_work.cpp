// build: g++ -O2 -ltbb -Wl,--no-as-needed
// A library that works on TBB's threads: what it returns is the same however many there are.
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

static long task(long number)
{
    unsigned long x = (unsigned long)number * 2654435761u + 1;
    for (int i = 0; i < 100000; i++)
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return (long)(x & 0xffff);
}

extern "C" int tbb_work(long tasks)
{
    auto some = [](const tbb::blocked_range<long> &range, long sum) {
        for (long i = range.begin(); i != range.end(); i++)
            sum += task(i);
        return sum;
    };
    auto add = [](long a, long b) { return a + b; };
    long sum = tbb::parallel_reduce(tbb::blocked_range<long>(0, tasks), 0L, some, add);
    return (int)(sum & 0x7fffffff);
}
