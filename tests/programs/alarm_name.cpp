/* build: g++ -O2 -fopenmp */
/* The handler of a timer's signal counts in a thread-local variable, and compares threads. */
#include "test.h"
#include <atomic>
#include <csignal>
#include <omp.h>
#include <sys/time.h>
#include <thread>

static std::thread::id first;
static thread_local volatile long rings;
static std::atomic<long> others;
static long done[4];

static void ring(int)
{
    rings = rings + 1;
    if (std::this_thread::get_id() != first)
        others++;
}

int main()
{
    long rounds = 0, wrong = 0;
    first = std::this_thread::get_id();
    struct sigaction action = {};
    action.sa_handler = ring;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    const itimerval once = {{0, 0}, {0, 100}};
    do {
        long elsewhere = 0;
        /* Not before `going` has set a time limit by the same timer. Once a round: the kernel delivers a
         * signal that comes while the handler runs to another thread. */
        if (rounds > 0)
            setitimer(ITIMER_REAL, &once, nullptr);
#pragma omp parallel num_threads(4) reduction(+ : elsewhere)
        {
            const int me = omp_get_thread_num();
            for (int i = 0; i < 5; i++) {
                done[me] += work(2000, i);
#pragma omp barrier
            }
            if (me != 0)
                elsewhere += rings;
        }
        wrong += elsewhere;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong + others);
    return wrong + others != 0;
}
