void run(long *a, int n)
{
    union { volatile long both; volatile int low; } kept = {1L << 32};
#pragma omp parallel for firstprivate(kept)
    for (int i = 0; i < n; i++) {
        kept.low = i;
        a[i] = kept.both;
        kept.both += 1L << 32;
    }
}
