static long __attribute__((noinline)) work(long i) { return i * i % 7; }
void run(long *a, long *pivot)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < 256; i++) a[i] += work(i) + *pivot;
#pragma omp master
        *pivot = a[19] % 100;
#pragma omp barrier
#pragma omp for
        for (int i = 0; i < 256; i++) a[i] += *pivot;
    }
}
