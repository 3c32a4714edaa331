/* build: g++ -O2 -fopenmp -Wall -Wextra -Werror */
/* A pool of buffers, one for each std::this_thread::get_id() that has been met; each thread fills its own. */
#include "test.h"

#include <map>
#include <mutex>
#include <omp.h>
#include <thread>
#include <vector>

int main()
{
    const std::size_t threads = omp_get_max_threads();
    std::map<std::thread::id, std::vector<long>> buffers;
    std::mutex lock;
    long wrong = 0, rounds = 0;
    do {
#pragma omp parallel
        {
            std::vector<long> *own;
            {
                std::lock_guard<std::mutex> guard(lock);
                own = &buffers[std::this_thread::get_id()];
            }
            own->push_back(work(20, static_cast<long>(own->size())));
        }
        rounds++;
        long most = 0;
        for (auto &[thread, buffer] : buffers)
            most += static_cast<long>(buffer.size());
        wrong += buffers.size() != threads || most != rounds * static_cast<long>(threads);
        if (rounds % 1000 == 0)
            rounds -= 1000, buffers.clear();
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
