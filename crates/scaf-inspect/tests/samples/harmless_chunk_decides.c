static long __attribute__((noinline)) square(long i) { return i * i % 7; }
void run(long *a, long round)
{
#pragma omp parallel for schedule(static, 3)
    for (int i = 0; i < 256; i++) {
        if (i % 3 == 0) continue;
        if (i > 200) a[i] = square(i);
        else a[i] += round;
    }
}
