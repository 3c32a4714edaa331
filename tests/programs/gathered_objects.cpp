/* build: g++ -O2 -fopenmp -Wall -Wextra -Werror */
/* Regions of fixed size whose tasks have objects: as many end as begin, and each is the right one. */
#include "test.h"

#include <string>
#include <vector>

enum { TEAM = 4 };

static long wrong, rounds, alive;

static void check(bool right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

struct Object {
    long value;
    std::string text;
    Object *self;

    explicit Object(long value) : value(value), text(std::to_string(value)), self(this) { begin(); }
    Object() : Object(0) {}
    Object(const Object &other) : value(other.value), text(other.text), self(this)
    {
        check(other.is_right());
        begin();
    }
    Object &operator=(const Object &other)
    {
        check(is_right() && other.is_right());
        value = other.value;
        text = other.text;
        return *this;
    }
    ~Object()
    {
        check(is_right());
        value = -1;
        __atomic_fetch_sub(&alive, 1, __ATOMIC_RELAXED);
    }
    bool is_right() const { return self == this && text == std::to_string(value); }

private:
    void begin() { __atomic_fetch_add(&alive, 1, __ATOMIC_RELAXED); }
};

struct alignas(32) Wide {
    double four[4];
};

static void round_of_tasks()
{
    long sum = 0;
    Object last(-5);
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    {
        for (int i = 0; i < 20; i++) {
            Object object(i);
            std::vector<Object> many(3, object);
            Wide wide = {{1.0 * i, 2, 3, 4}};
#pragma omp task firstprivate(object, many, wide) shared(sum) if (i % 5 != 0) final(i % 7 == 0)
            {
                check(object.is_right() && many.size() == 3 && wide.four[0] == object.value);
#pragma omp task firstprivate(object) shared(sum)
                {
                    check(object.is_right());
#pragma omp atomic
                    sum += object.value;
                }
#pragma omp atomic
                sum += many[2].value;
            }
#pragma omp task firstprivate(object) depend(inout : last) shared(last)
            last = object;
        }
        Object start(100);
        Object behind;
#pragma omp taskloop firstprivate(start) lastprivate(behind) shared(sum) num_tasks(9)
        for (long i = 0; i < 50; i++) {
            check(start.is_right());
#pragma omp atomic
            sum += start.value;
            behind = Object(i);
        }
        check(behind.value == 49);
#pragma omp taskwait
        check(last.value == 19);
    }
    check(sum == 2 * 190 + 5000);
}

int main()
{
    do {
        round_of_tasks();
        check(alive == 0);
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
