/* build: g++ -O2 -fopenmp -pthread -Wall -Wextra -Werror */
/* The kernel knows the owner of a mutex that hands on priorities, by the number of its thread. */
#include "test.h"

#include <pthread.h>

namespace {

class Mutex {
  public:
    Mutex()
    {
        pthread_mutexattr_t kind;
        pthread_mutexattr_init(&kind);
        pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
        pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
        pthread_mutex_init(&mutex_, &kind);
    }
    int lock() { return pthread_mutex_lock(&mutex_); }
    int unlock() { return pthread_mutex_unlock(&mutex_); }

  private:
    pthread_mutex_t mutex_;
};

} // namespace

int main()
{
    constexpr int team = 4;
    Mutex mutex;
    long wrong = 0, rounds = 0, inside = 0;
    do {
#pragma omp parallel num_threads(team) reduction(+ : wrong)
        for (int i = 0; i < 4; i++) {
            wrong += mutex.lock() != 0;
            wrong += ++inside != 1;
            work(300, i);
            if (i % 2)
                usleep(30);
            inside--;
            wrong += mutex.unlock() != 0;
#pragma omp barrier
        }
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
