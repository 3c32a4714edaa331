/* build: g++ -O2 -fopenmp -pthread -Wall -Wextra -Werror */
/* main ends by pthread_exit, with objects whose destructors run, while a std::thread goes on with regions. */
#include "test.h"

#include <chrono>
#include <pthread.h>
#include <thread>

static void regions(const char *who, double seconds)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    long wrong = 0;
    do {
        long sum = 0;
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 100; i++)
            sum += i;
        wrong += sum != 4950;
    } while (std::chrono::steady_clock::now() < end);
    say(who, wrong);
}

struct Leaves {
    ~Leaves() { say("left", 1); }
};

int main()
{
    Leaves leaves;
    regions("first", 0.5);
    std::thread([] { regions("other", 0.8); }).detach();
    pthread_exit(nullptr);
}
