struct all {
    long a, b;
    int *state;
};
int out[16];

__attribute__((noinline)) static void step(struct all all)
{
    *all.state = *all.state * 3 + (int)(all.a + all.b);
    out[all.a] = *all.state;
}

void run(void)
{
#pragma omp parallel
    {
        int state = 1;
#pragma omp for schedule(static)
        for (int i = 0; i < 16; i++) {
            struct all all = {i, 2, &state};
            step(all);
        }
    }
}
