/* Tasks that depend on each other: a recursion of task groups, a pipeline, a graph. */
#include "tbb_common.h"

#include <tbb/flow_graph.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_group.h>

/* Pieces that are under way at a time in a pipeline or a graph. */
static const long UNDER_WAY = 64;

static uint64_t halves(long begin, long end)
{
    if (end - begin == 1)
        return piece(begin);
    uint64_t first = 0, second = 0;
    long middle = begin + (end - begin) / 2;
    tbb::task_group group;
    group.run([&] { first = halves(begin, middle); });
    second = halves(middle, end);
    group.wait();
    return first + second;
}

static uint64_t pipeline(long pieces)
{
    long next = 0;
    uint64_t sum = 0;
    auto count = [&](tbb::flow_control &flow) {
        if (next == pieces)
            flow.stop();
        return next++;
    };
    auto compute = [](long number) { return piece(number); };
    auto add = [&](uint64_t value) { sum += value; };
    auto source = tbb::make_filter<void, long>(tbb::filter_mode::serial_in_order, count);
    auto middle = tbb::make_filter<long, uint64_t>(tbb::filter_mode::parallel, compute);
    auto sink = tbb::make_filter<uint64_t, void>(tbb::filter_mode::serial_out_of_order, add);
    tbb::parallel_pipeline(UNDER_WAY, source & middle & sink);
    return sum;
}

static uint64_t graph(long pieces)
{
    uint64_t sum = 0;
    tbb::flow::graph graph;
    long next = 0;
    tbb::flow::input_node<long> source(graph, [&](tbb::flow_control &flow) {
        if (next == pieces)
            flow.stop();
        return next++;
    });
    tbb::flow::limiter_node<long> limiter(graph, UNDER_WAY);
    tbb::flow::function_node<long, uint64_t> middle(graph, tbb::flow::unlimited, piece);
    tbb::flow::function_node<uint64_t> sink(graph, tbb::flow::serial, [&](uint64_t value) {
        sum += value;
        return tbb::flow::continue_msg();
    });
    tbb::flow::make_edge(source, limiter);
    tbb::flow::make_edge(limiter, middle);
    tbb::flow::make_edge(middle, sink);
    tbb::flow::make_edge(sink, limiter.decrementer());
    source.activate();
    graph.wait_for_all();
    return sum;
}

int main(int argc, char **argv)
{
    static const char *const forms[] = {"groups", "pipeline", "graph", nullptr};
    static const char help[] = "tasks that depend on each other (oneTBB)";
    static const struct program program = {"tbb_flow", help, forms, nullptr};
    return run_pieces(&program, argc, argv, [](int form, long pieces) {
        return form == 0 ? halves(0, pieces) : form == 1 ? pipeline(pieces) : graph(pieces);
    });
}
