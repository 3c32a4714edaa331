void run(long *a, long *pivot)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < 256; i++) a[i] += i % 5 + *pivot;
#pragma omp single
        *pivot = a[17] % 1000;
#pragma omp for
        for (int i = 0; i < 256; i++) a[i] += *pivot;
    }
}
