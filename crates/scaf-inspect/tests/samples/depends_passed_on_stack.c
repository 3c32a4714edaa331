int out[16];

__attribute__((noinline)) static void put(int a, int b, int c, int d, int e, int f, int g)
{
    out[a] = b + c + d + e + f + g;
}

void run(void)
{
#pragma omp parallel
    {
        int state = 1;
#pragma omp for schedule(static)
        for (int i = 0; i < 16; i++) {
            state = state * 3 + i;
            put(i, 1, 2, 3, 4, 5, state & 0xff);
        }
    }
}
