/* build: g++ -O2 -fopenmp -pthread -Wall -Wextra -Werror */
/* A collector of garbage: one thread of each region of fixed size stops the others by signals to their
 * numbers, and looks whether each has answered on a thread of its own. */
#include "test.h"

#include <atomic>
#include <csignal>
#include <memory>
#include <omp.h>
#include <sys/syscall.h>

namespace {

constexpr int TEAM = 3;
std::atomic<long> answered;
thread_local int own = -1;
std::atomic<int> answers[TEAM];

void answer(int)
{
    if (own >= 0)
        answers[own]++;
    answered++;
}

struct Collector {
    virtual ~Collector() = default;
    virtual void stop(long thread) = 0;
};

struct BySignals : Collector {
    void stop(long thread) override { syscall(SYS_tgkill, getpid(), thread, SIGUSR1); }
};

} // namespace

int main()
{
    struct sigaction action = {};
    action.sa_handler = answer;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, nullptr);
    std::unique_ptr<Collector> collector = std::make_unique<BySignals>();
    static long threads[TEAM];
    long wrong = 0, rounds = 0;
    do {
        for (auto &each : answers)
            each = 0;
        answered = 0;
#pragma omp parallel num_threads(TEAM)
        {
            own = omp_get_thread_num();
            threads[own] = syscall(SYS_gettid);
#pragma omp barrier
#pragma omp master
            for (int i = 1; i < TEAM; i++)
                collector->stop(threads[i]);
            for (int i = 0; answered < TEAM - 1 && i < 100000; i++)
                usleep(10);
#pragma omp barrier
            own = -1;
        }
        for (int i = 1; i < TEAM; i++)
            wrong += answers[i] != 1;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
