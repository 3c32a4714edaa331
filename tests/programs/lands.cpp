/* build: g++ -O2 -fopenmp -Wall -Wextra -Werror */
/* Exceptions that are thrown and caught within iterations, tasks and sections, beside threads that spin. */
#include "test.h"

#include <stdexcept>
#include <string>

static long thrown(int i)
{
    try {
        std::string text(static_cast<std::size_t>(20 + i % 5), 'x');
        if (i % 3 == 0)
            throw std::out_of_range(text);
        return 1;
    } catch (const std::out_of_range &caught) {
        return static_cast<long>(std::string(caught.what()).size());
    }
}

int main()
{
    long wrong = 0, rounds = 0, expected = 0;
    for (int i = 0; i < 90; i++)
        expected += thrown(i);
    do {
        long loops = 0, tasks = 0, seen = 0;
        int ready = 0;
#pragma omp parallel num_threads(3)
        {
#pragma omp for reduction(+ : loops) schedule(dynamic, 7)
            for (int i = 0; i < 90; i++)
                loops += thrown(i);
#pragma omp single
            for (int i = 0; i < 90; i++)
#pragma omp task shared(tasks)
            {
                long got = thrown(i);
#pragma omp atomic
                tasks += got;
            }
#pragma omp barrier
#pragma omp master
            __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
            while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) {
            }
            try {
#pragma omp atomic
                seen += 1;
                throw rounds;
            } catch (long &number) {
#pragma omp atomic
                seen += number - rounds;
            }
        }
        wrong += loops != expected || tasks != expected || seen != 3;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
