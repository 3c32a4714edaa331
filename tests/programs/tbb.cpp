/* build: g++ -O2 -std=c++17 -Wall -Wextra -Werror -ltbb -lpthread */
/* oneTBB in the way that the first argument names. Prints how many threads are at work whenever that changes
 * (now=), and in the end sums of integers, which are the same however the work was divided. */
#include "test.h"
#include <atomic>
#include <sys/wait.h>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <thread>
#include <vector>

static std::atomic<long> at_work, most_at_work, sum;
static std::atomic<bool> ended;

/* About 50 us by one thread, and who else is at it. */
static long piece(long number)
{
    long now = ++at_work, most = most_at_work;
    while (now > most && !most_at_work.compare_exchange_weak(most, now)) {
    }
    long result = work(5000, number);
    --at_work;
    return result;
}

static void loop(long pieces)
{
    tbb::parallel_for(0L, pieces, [](long number) { sum += piece(number); });
}

static void nested_loops()
{
    tbb::parallel_for(0L, 8L, [](long) { loop(8); });
}

static void nested_arenas()
{
    tbb::parallel_for(0L, 8L, [](long) {
        tbb::task_arena inner(2);
        inner.execute([] { loop(8); });
    });
}

static void group()
{
    tbb::task_group group;
    for (long number = 0; number < 64; number++)
        group.run([number] { sum += piece(number); });
    group.wait();
}

static void pipeline()
{
    long next = 0;
    auto count = [&](tbb::flow_control &flow) {
        if (next == 64)
            flow.stop();
        return next++;
    };
    auto add = [](long number) { sum += piece(number); };
    tbb::parallel_pipeline(8, tbb::make_filter<void, long>(tbb::filter_mode::serial_in_order, count) &
                                  tbb::make_filter<long, void>(tbb::filter_mode::parallel, add));
}

static void graph()
{
    tbb::flow::graph graph;
    tbb::flow::function_node<long, long> first(graph, tbb::flow::unlimited, piece);
    tbb::flow::function_node<long> last(graph, tbb::flow::serial, [](long result) { sum += result; });
    tbb::flow::make_edge(first, last);
    for (long number = 0; number < 64; number++)
        first.try_put(number);
    graph.wait_for_all();
}

/* Nobody waits within oneTBB: only its own threads can do it. */
static void enqueued()
{
    static tbb::task_arena arena(1, 0);
    std::atomic<int> left{64};
    for (long number = 0; number < 64; number++)
        arena.enqueue([number, &left] { sum += piece(number); --left; });
    while (left)
        usleep(100);
}

static void of_two_threads()
{
    std::thread other([] { loop(32); });
    loop(32);
    other.join();
}

static void thrown()
{
    try {
        tbb::parallel_for(0L, 64L, [](long number) {
            piece(number);
            if (number == 40)
                throw 40L;
        });
    } catch (long number) {
        sum += number;
    }
}

/* Once a process has used oneTBB, its children can't, for its threads are gone. Before, they can. */
static void forked()
{
    static bool used;
    pid_t child = fork();
    if (child == 0) {
        long wanted = 0;
        for (long number = 0; number < 64; number++)
            wanted += work(5000, number);
        sum = used ? wanted : 0;
        if (!used)
            loop(64);
        _exit(sum != wanted);
    }
    loop(64);
    used = true;
    int status = 1;
    waitpid(child, &status, 0);
    sum += status;
}

static void capped()
{
    tbb::global_control cap(tbb::global_control::max_allowed_parallelism, 1);
    loop(64);
}

/* One loop to the end of the program. Each piece is a task: only between two of them may a thread leave. */
static void endless()
{
    tbb::task_group_context context;
    std::thread watch([&] {
        while (!ended)
            usleep(1000);
        context.cancel_group_execution();
    });
    tbb::parallel_for(tbb::blocked_range<long>(0, 1L << 40), [](const tbb::blocked_range<long> &range) {
        for (long number = range.begin(); number < range.end() && !ended; number++)
            piece(number);
    }, tbb::simple_partitioner(), context);
    watch.join();
}

static const struct {
    const char *name;
    void (*round)();
} WAYS[] = {
    {"loop", [] { loop(64); }}, {"loops", nested_loops}, {"arenas", nested_arenas}, {"group", group},
    {"pipeline", pipeline}, {"graph", graph}, {"enqueue", enqueued}, {"threads", of_two_threads},
    {"throw", thrown}, {"fork", forked}, {"cap", capped}, {"endless", endless},
};

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "loop";
    going();
    std::thread monitor([] {
        long said = 0;
        while (going()) {
            most_at_work = 0;
            usleep(200000);
            long most = most_at_work;
            if (most && most != said)
                say("now", said = most);
        }
        ended = true;
    });
    long rounds = 0, first = 0, different = 0, most = 0;
    for (const auto &known : WAYS) {
        if (strcmp(known.name, way) != 0)
            continue;
        do {
            sum = 0;
            known.round();
            first = rounds++ ? first : sum.load();
            different += sum != first;
            most = most_at_work > most ? most_at_work.load() : most;
        } while (!ended);
    }
    monitor.join();
    say("rounds", rounds);
    say("sum", first);
    say("different", different);
    say("concurrency", tbb::this_task_arena::max_concurrency());
    say("most", most);
    return 0;
}
