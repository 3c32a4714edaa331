/* build: gcc -O2 -fopenmp -I include */
/* Regions that may be resized, in turns outside and within blocks of exact results, which nest. */
#include "test.h"
#include "scaf.h"

static long team(void)
{
    long sum = 0, threads = 0;
#pragma omp parallel reduction(+ : threads)
    {
        threads = 1;
#pragma omp for reduction(+ : sum)
        for (int i = 0; i < 64; i++)
            sum += work(500, i);
    }
    return sum ? threads : 0;
}

int main(void)
{
    long within_least = 99, within_most = 0;
    struct sizes outside = {{0}, 0};
    scaf_exact(0); /* no block has begun */
    do {
        met(&outside, team());
        scaf_exact(1);
        scaf_exact(1);
        long deep = team();
        scaf_exact(0);
        long back = team();
        scaf_exact(0);
        long least = deep < back ? deep : back, most = deep < back ? back : deep;
        within_least = least < within_least ? least : within_least;
        within_most = most > within_most ? most : within_most;
    } while (going());
    say("outside", usual(&outside));
    say("within_least", within_least);
    say("within_most", within_most);
    return 0;
}
