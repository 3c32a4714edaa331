/* The same in a function that the region calls, with a hint to the processor. */
static long ready[64];

static __attribute__((noinline)) void wait_for(const long *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        __builtin_ia32_pause();
}

void chain(void)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 64; i++) {
        if (i > 0)
            wait_for(&ready[i - 1]);
        __atomic_store_n(&ready[i], 1, __ATOMIC_RELEASE);
    }
}
