/* Each thread waits for the others' flags, and looks at one after the other. */
int omp_get_thread_num(void);
int flags[64], out[64], n;

void run(void) {
#pragma omp parallel
    {
        int k = 0;
#pragma omp for nowait
        for (int i = 0; i < 64; i++)
            __atomic_store_n(&flags[i], i % 7 == 0, 3);
        while (!__atomic_load_n(&flags[k], 2)) k = (k + 1) % n;
#pragma omp for
        for (int i = 0; i < 64; i++) out[i] = flags[i];
    }
}
