/* build: gcc -O2 -fopenmp */
/* Rounds of a serial phase and one parallel region. Prints `region=BEGIN END` for each region, in ns of
 * CLOCK_MONOTONIC. Arguments: ms of each serial phase, ms of each region's work, and whether it sleeps in its
 * serial phases. */
#include "test.h"
#include <time.h>

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static long busy_until(long end)
{
    long sum = 0;
    while (now() < end)
        sum += work(1000, sum);
    return sum;
}

int main(int count, char **words)
{
    long serial_ns = (count > 1 ? atol(words[1]) : 1000) * 1000000;
    long region_ns = (count > 2 ? atol(words[2]) : 300) * 1000000;
    long rounds = 0, checked = 0;
    do {
        long begin = now();
        long sum = 0;
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 64; i++)
            sum += work(region_ns / 640, i);
        checked += sum;
        printf("region=%ld %ld\n", begin, now());
        fflush(stdout);
        if (count > 3)
            usleep(serial_ns / 1000);
        else
            busy_until(now() + serial_ns);
        rounds++;
    } while (going());
    say("rounds", rounds);
    return checked == 0;
}
