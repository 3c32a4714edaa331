/* Each thread looks at the others' flags in turn until one is set. */
int omp_get_thread_num(void);
int flags[64], out[64], n;

void run(void) {
#pragma omp parallel
    {
        int k = 0;
#pragma omp for nowait
        for (int i = 0; i < 64; i++)
            __atomic_store_n(&flags[i], i % 7 == 0, 3);
        while (!__atomic_load_n(&flags[k], 2)) if (++k == n) k = 0;
#pragma omp for
        for (int i = 0; i < 64; i++) out[i] = flags[i];
    }
}
