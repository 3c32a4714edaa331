int out[16];

__attribute__((noinline)) static void work(int n)
{
#ifdef __clang__
    int state = n;
    out[state] = 1;
    __asm__ volatile("cpuid" ::: "eax", "ebx", "ecx", "edx");
#else
    int state = 1;
    __attribute__((noinline)) void step(int i)
    {
        state = state * 3 + i;
        out[i] = state;
    }
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) step(i);
#endif
}

void run(void)
{
#pragma omp parallel
    work(16);
}
