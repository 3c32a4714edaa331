/* build: gcc -O2 -fopenmp */
/* May be resized, though the inspection of its code can't know: its threads leave marks in places of their
 * own, with which nothing is done. With the argument "drifts" it adds numbers up in another order each time
 * that it is run, so that the last digits of its sum differ. "rounds" goes on until its input ends. */
#include "test.h"
#include <omp.h>
#include <time.h>

static int stored;
static volatile char marks[64];
static double sum;
static double values[4096];

static void add_up(unsigned long x)
{
    for (int i = 4095; i > 0; i--) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        int other = (int)(x % (unsigned long)(i + 1));
        double value = values[i];
        values[i] = values[other], values[other] = value;
    }
    double all = 0;
#pragma omp parallel for reduction(+ : all)
    for (int i = 0; i < 4096; i++)
        all += values[i];
    sum = all;
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "";
    long rounds = 0, total = 0, wrong = 0, last = 0;
    unsigned long seed = 88172645463325252ul;
    struct timespec now;
    alarm(300);
    clock_gettime(CLOCK_REALTIME, &now);
    if (!strcmp(how, "drifts"))
        seed += (unsigned long)now.tv_nsec * 2654435761ul;
    for (int i = 0; i < 4096; i++)
        values[i] = (double)(work(1, i) - 32768) * 1e6 + 0.1;
    do {
        long part = 0, team = 0;
#pragma omp parallel reduction(+ : part, team)
        {
            team = 1;
            stored = omp_get_num_threads();
            marks[omp_get_thread_num() % 64] = 1;
#pragma omp for
            for (int i = 0; i < 64; i++)
                part += work(100, i);
        }
        total = rounds ? total : part;
        wrong += part != total;
        last = team;
        rounds++;
        usleep(500);
    } while (strcmp(how, "rounds") ? rounds < 150 : going());
    printf("total %ld, wrong %ld\n", total, wrong);
    if (!strcmp(how, "drifts")) {
        add_up(seed);
        printf("sum is %.17g\n", sum);
    }
    if (!strcmp(how, "rounds")) {
        say("last", last);
        say("stored", stored);
    }
    return 0;
}
