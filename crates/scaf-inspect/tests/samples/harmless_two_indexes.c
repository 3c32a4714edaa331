static long __attribute__((noinline)) work(long i) { return i * i % 7; }
void run(long a[16][16], long round)
{
#pragma omp parallel for collapse(2)
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) a[i][j] += work(i) + j + round;
}
