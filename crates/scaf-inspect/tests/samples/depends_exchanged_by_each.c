void run(int *a, int n, int *count)
{
#pragma omp parallel
    {
        int met = __atomic_load_n(count, __ATOMIC_RELAXED), asked;
        do {
            asked = met;
            met = __sync_val_compare_and_swap(count, asked, asked + 1);
        } while (met != asked);
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += i;
    }
}
