/* build: g++ -O1 -fopenmp -pthread -Wall -Wextra -Werror */
/* Regions of fixed size whose threads do what is dangerous where a kernel thread runs several of them: throw,
 * take signals, walk their stacks, change contexts and control words, start threads and programs. The first
 * argument says which. Prints how many results were wrong. */
#include "test.h"

#include <alloca.h>
#include <cerrno>
#include <cfenv>
#include <csignal>
#include <cstdint>
#include <execinfo.h>
#include <mutex>
#include <new>
#include <omp.h>
#include <pthread.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <vector>

extern char **environ;

namespace {

constexpr int TEAM = 4;
long wrong, rounds;

void check(bool right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

int me()
{
    return omp_get_thread_num();
}

/* Whoever throws, catches it; others throw meanwhile. Caught exceptions are each thread's own. */
[[gnu::noinline]] void thrown(int depth, int what)
{
    std::string held(static_cast<size_t>(depth + 20), 'x');
    if (depth == 0)
        throw std::runtime_error(std::to_string(what));
    thrown(depth - 1, what);
    check(held.size() == static_cast<size_t>(depth + 20));
}

void by_throwing()
{
#pragma omp parallel num_threads(TEAM)
    {
        for (int step = 0; step < 5; step++) {
            try {
                thrown(4, me() * 10 + step);
                check(false);
            } catch (const std::exception &outer) {
                auto own = std::current_exception();
#pragma omp barrier
                check(outer.what() == std::to_string(me() * 10 + step));
                try {
                    thrown(2, -me());
                } catch (const std::exception &inner) {
#pragma omp barrier
                    check(inner.what() == std::to_string(-me()));
                    check(std::uncaught_exceptions() == 0);
                }
                check(std::current_exception() == own);
                try {
                    throw;
                } catch (const std::runtime_error &again) {
                    check(again.what() == std::to_string(me() * 10 + step));
                }
            }
#pragma omp barrier
        }
    }
}

/* Memory that one thread got is given back by another; errno stays with its thread. */
void by_allocating()
{
    static std::vector<char *> shelves[TEAM];
#pragma omp parallel num_threads(TEAM)
    {
        auto &own = shelves[me()];
        for (int i = 0; i < 200; i++) {
            size_t bytes = 16u << (i % 12);
            char *got = new char[bytes];
            got[0] = got[bytes - 1] = static_cast<char>(me());
            own.push_back(got);
        }
        errno = 1000 + me();
#pragma omp barrier
        check(errno == 1000 + me());
        int other = (me() + 1) % TEAM;
        for (char *got : shelves[other]) {
            check(got[0] == static_cast<char>(other));
            delete[] got;
        }
        shelves[other].clear();
        check(close(-1) == -1 && errno == EBADF);
#pragma omp barrier
        check(errno == EBADF);
    }
}

/* A signal to oneself is handled before `raise` returns. */
volatile int handled;
thread_local volatile int within;
thread_local volatile long seen;

void handle(int)
{
    int before = errno;
    within = 1;
    errno = 77;
    for (int i = 0; i < 1000 && errno == 77; i++)
        within = 1;
    seen = seen + (errno == 77 ? 1 : 1000000);
    within = 0;
    errno = before;
    __atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST);
}

void by_raising()
{
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR2, &action, nullptr);
    int before = handled;
#pragma omp parallel num_threads(TEAM)
    {
        for (int i = 0; i < 3; i++) {
            long had = seen;
            check(raise(SIGUSR2) == 0);
            check(seen == had + 1);
            if (i == 1)
                usleep(3000);
#pragma omp barrier
        }
    }
    check(handled == before + 3 * TEAM);
}

/* A thread never sees the middle of a handler's work on its own variables. Signals come from outside. */
void by_storm()
{
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR2, &action, nullptr);
    static volatile bool over;
    over = false;
    pthread_t outside;
    auto send = [](void *) -> void * {
        while (!over) {
            kill(getpid(), SIGUSR2);
            usleep(50);
        }
        return nullptr;
    };
    pthread_create(&outside, nullptr, send, nullptr);
#pragma omp parallel num_threads(TEAM)
    {
        for (int i = 0; i < 20; i++) {
            errno = 5;
            for (int k = 0; k < 20000; k++) {
                if (within != 0 || errno != 5)
                    check(false);
            }
#pragma omp barrier
        }
        check(seen < 1000000);
    }
    over = true;
    pthread_join(outside, nullptr);
}

/* The stack can be walked, and ends. */
[[gnu::noinline]] int deep(int left, void **frames, int most)
{
    int count = left == 0 ? backtrace(frames, most) : deep(left - 1, frames, most);
    asm volatile("" ::: "memory");
    return count;
}

void by_walking()
{
#pragma omp parallel num_threads(TEAM)
    {
        void *frames[64];
        int count = deep(5, frames, 64);
        check(count > 6 && count < 40);
#pragma omp barrier
        check(deep(5, frames, 64) == count);
    }
}

/* Coroutines: contexts of the program's own, which meet at barriers. */
struct Coroutine {
    ucontext_t inside, outside;
    std::vector<char> stack = std::vector<char>(256 << 10);
    long sum = 0;
};

void resumed(unsigned high, unsigned low)
{
    auto *it = reinterpret_cast<Coroutine *>(static_cast<uintptr_t>(high) << 32 | low);
    for (int i = 1;; i++) {
        it->sum += i;
        if (i % 2 == 0) {
#pragma omp barrier
        }
        swapcontext(&it->inside, &it->outside);
    }
}

void by_coroutines()
{
#pragma omp parallel num_threads(TEAM)
    {
        Coroutine it;
        getcontext(&it.inside);
        it.inside.uc_stack.ss_sp = it.stack.data();
        it.inside.uc_stack.ss_size = it.stack.size();
        it.inside.uc_link = nullptr;
        auto at = reinterpret_cast<uintptr_t>(&it);
        makecontext(&it.inside, reinterpret_cast<void (*)()>(resumed), 2, static_cast<unsigned>(at >> 32),
                    static_cast<unsigned>(at));
        for (int i = 0; i < 6; i++) {
            swapcontext(&it.outside, &it.inside);
#pragma omp barrier
        }
        check(it.sum == 21);
    }
}

/* Rounding modes are each thread's own, and what they are at the start is the master's. */
void by_rounding()
{
    static const int modes[TEAM] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    volatile double one = 1, three = 3;
    volatile long double wide = 1;
    double third[TEAM];
    long double wides[TEAM];
#pragma omp parallel num_threads(TEAM)
    {
        fesetround(modes[me()]);
#pragma omp barrier
        third[me()] = one / three;
        wides[me()] = wide / 3;
        check(fegetround() == modes[me()]);
#pragma omp barrier
        check(third[me()] == one / three && wides[me()] == wide / 3);
        fesetround(FE_TONEAREST);
    }
    check(third[1] > third[2] && third[0] == 1.0 / 3 && third[2] == third[3]);
    check(wides[1] > wides[2]);
    check(fegetround() == FE_TONEAREST);
}

/* Many values live across barriers, some in vectors, and variable frames. */
void by_values()
{
#pragma omp parallel num_threads(TEAM)
    {
        typedef double Vector __attribute__((vector_size(32)));
        Vector sums[8] = {};
        for (int step = 0; step < 10; step++) {
            auto *room = static_cast<volatile char *>(alloca(static_cast<size_t>(1000 + 100 * me())));
            room[0] = room[999] = static_cast<char>(me());
            for (int i = 0; i < 8; i++)
                sums[i] += static_cast<double>(me() + i + step);
#pragma omp barrier
            check(room[0] == me() && room[999] == me());
        }
        for (int i = 0; i < 8; i++)
            check(sums[i][0] == 10 * (me() + i) + 45 && sums[i][3] == sums[i][0]);
    }
}

/* Much thread-local data, with constructors. */
struct Counted {
    long values[30000];
    Counted() { values[0] = values[29999] = 1; }
};
thread_local Counted large;

void by_locals()
{
    static long before[TEAM];
#pragma omp parallel num_threads(TEAM)
    {
        check(large.values[0] == before[me()] + 1 && large.values[29999] == before[me()] + 1);
        large.values[0]++;
#pragma omp barrier
        large.values[29999]++;
    }
    for (long &one : before)
        one++;
}

/* Programs started in a member, and standard output's own lock held over a barrier. */
void by_spawning()
{
#pragma omp parallel num_threads(TEAM)
    {
        if (me() == 1) {
            pid_t child = -1;
            int status = -1;
            char name[] = "true";
            char *words[] = {name, nullptr};
            check(posix_spawn(&child, "/bin/true", nullptr, nullptr, words, environ) == 0);
            check(waitpid(child, &status, 0) == child && status == 0);
            flockfile(stderr);
        }
#pragma omp barrier
        if (me() == 1)
            funlockfile(stderr);
        check(fflush(stderr) == 0);
    }
}

bool blocks(int signal)
{
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, nullptr, &now);
    return sigismember(&now, signal) == 1;
}

/* Which signals are blocked, and where handlers run, is each member's own. */
void by_masking()
{
    static char stacks[TEAM][1 << 16];
#pragma omp parallel num_threads(TEAM)
    {
        bool odd = me() % 2 == 1;
        sigset_t some, before;
        stack_t mine = {}, then = {}, now = {};
        mine.ss_sp = stacks[me()];
        mine.ss_size = sizeof stacks[0];
        sigemptyset(&some);
        sigaddset(&some, SIGUSR2);
        pthread_sigmask(SIG_BLOCK, &some, &before);
        check(sigismember(&before, SIGUSR2) == 0 && blocks(SIGUSR2));
        if (odd)
            sigprocmask(SIG_SETMASK, &before, nullptr);
        else
            sigaltstack(&mine, &then);
        for (int step = 0; step < 5; step++) {
#pragma omp barrier
            check(blocks(SIGUSR2) != odd);
            sigaltstack(nullptr, &now);
            check((now.ss_sp == mine.ss_sp) != odd);
        }
        if (!odd) {
            sigaltstack(&then, nullptr);
            pthread_sigmask(SIG_SETMASK, &before, nullptr);
        }
#pragma omp barrier
        check(!blocks(SIGUSR2));
    }
}

/* From one round on some members block a signal for good. */
void keeping_from(long first, bool (*blocking)())
{
#pragma omp parallel num_threads(TEAM)
    {
        if (rounds == first && blocking()) {
            sigset_t some;
            sigemptyset(&some);
            sigaddset(&some, SIGUSR2);
            pthread_sigmask(SIG_BLOCK, &some, nullptr);
        }
#pragma omp barrier
        check(blocks(SIGUSR2) == (rounds >= first && blocking()));
    }
}

bool is_odd()
{
    return me() % 2 == 1;
}

/* They are gathered by then. */
void by_keeping()
{
    keeping_from(10'000, is_odd);
}

/* They are threads of their own. */
void by_having_kept()
{
    keeping_from(0, is_odd);
}

void by_keeping_master()
{
    keeping_from(100, [] { return me() == 0; });
}

/* All descriptors are closed, the library's connections among them. */
void by_closing()
{
    if (rounds == 50) {
        for (int file = 3; file < 1024; file++)
            close(file);
    }
#pragma omp parallel num_threads(TEAM)
    {
        work(200, me());
#pragma omp barrier
        check(me() < TEAM);
    }
}

/* A second thread has teams of its own while the first one's runs; later it is gone. */
void by_another_master()
{
    long sum = 0;
    bool now = rounds % 50 == 49;
#pragma omp parallel num_threads(TEAM) reduction(+ : sum)
    {
        if (me() == 2 && now) {
            pthread_t other;
            auto run = [](void *found) -> void * {
                for (int i = 0; i < 20; i++) {
                    long inside = 0;
#pragma omp parallel num_threads(3) reduction(+ : inside)
                    {
#pragma omp barrier
                        inside += omp_get_thread_num() + 1;
                    }
                    *static_cast<long *>(found) += inside;
                }
                return nullptr;
            };
            long found = 0;
            pthread_create(&other, nullptr, run, &found);
            pthread_join(other, nullptr);
            check(found == 20 * 6);
        }
#pragma omp barrier
        sum += me();
    }
    check(sum == 6);
}

/* Teams of other sizes between, some on one thread, by the clause and by a call. */
void by_sizes()
{
    static const int sizes[] = {4, 4, 4, 1, 4, 2, 4, 3};
    static long own[TEAM];
    static thread_local long mine;
    int size = rounds % 200000 >= 50 ? TEAM : sizes[rounds % 8];
    if (rounds % 10000 == 99)
        omp_set_num_threads(TEAM + static_cast<int>(rounds / 10000 % 2));
    bool same = size == TEAM;
#pragma omp parallel num_threads(size)
    {
        check(omp_get_num_threads() == size);
        if (same && mine != 0)
            check(mine == own[me()]);
#pragma omp barrier
        mine = rounds + 1;
        own[me()] = rounds + 1;
    }
    if (!same)
        mine = own[0] = 0;
}

/* A thread that ends, having been a master, hands over to the next one. */
void by_masters_in_turn()
{
    auto run = [](void *) -> void * {
        long before = handled;
        for (int i = 0; i < 400; i++) {
            long sum = 0;
            static thread_local long mine;
#pragma omp parallel num_threads(TEAM) reduction(+ : sum)
            {
                check(mine == i);
#pragma omp barrier
                mine++;
                sum += me();
            }
            check(sum == 6);
        }
        check(before == handled);
        return nullptr;
    };
    pthread_t master;
    pthread_create(&master, nullptr, run, nullptr);
    pthread_join(master, nullptr);
}

/* CPU time of the process passes, and that of a thread's clock can be read. */
void by_clocks()
{
#pragma omp parallel num_threads(TEAM)
    {
        timespec process[2], thread;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &process[0]);
        work(2000, me());
        check(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &thread) == 0);
#pragma omp barrier
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &process[1]);
        check(process[1].tv_sec > process[0].tv_sec ||
              (process[1].tv_sec == process[0].tv_sec && process[1].tv_nsec > process[0].tv_nsec));
        rusage used;
        check(getrusage(RUSAGE_THREAD, &used) == 0);
    }
}

/* Ends of the program within a region. */
void by_exit()
{
#pragma omp parallel num_threads(TEAM)
    {
        if (rounds == 300 && me() == 2) {
            atexit([] { say("wrong", wrong); });
            exit(7);
        }
#pragma omp barrier
    }
}

void by_abort()
{
#pragma omp parallel num_threads(TEAM)
    {
        if (rounds == 300 && me() == 3)
            abort();
#pragma omp barrier
    }
}

/* Nobody catches it: the program ends, and says so. */
void by_terminate()
{
    std::set_terminate([] { _exit(9); });
#pragma omp parallel num_threads(TEAM)
    {
        if (rounds == 300 && me() == 3)
            thrown(3, 1);
#pragma omp barrier
    }
}

const struct {
    const char *name;
    void (*round)();
} kinds[] = {
    {"throwing", by_throwing},     {"allocating", by_allocating}, {"raising", by_raising},
    {"storm", by_storm},           {"walking", by_walking},       {"coroutines", by_coroutines},
    {"rounding", by_rounding},     {"values", by_values},         {"locals", by_locals},
    {"masking", by_masking},       {"keeping", by_keeping},
    {"kept", by_having_kept},      {"keeping-master", by_keeping_master},
    {"spawning", by_spawning},     {"closing", by_closing},       {"another-master", by_another_master},
    {"sizes", by_sizes},           {"masters", by_masters_in_turn}, {"clocks", by_clocks},
    {"exit", by_exit},             {"abort", by_abort},           {"terminate", by_terminate},
};

} // namespace

int main(int count, char **words)
{
    for (const auto &kind : kinds) {
        if (count < 2 || strcmp(words[1], kind.name) != 0)
            continue;
        do {
            kind.round();
            rounds++;
        } while (going());
        say("rounds", rounds);
        say("wrong", wrong);
        return wrong != 0;
    }
    return 2;
}
