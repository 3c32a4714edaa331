// Each iteration begins with a test, which gcc makes at the end of the one before, and before the loop.
static unsigned long jumped(unsigned long n)
{
    unsigned long state = 314159265, factor = 1220703125;
    for (; n; n >>= 1) {
        if (n & 1)
            state = state * factor & 0x3fffffffffff;
        factor = factor * factor & 0x3fffffffffff;
    }
    return state;
}

void run(int *key, int keys)
{
#pragma omp parallel for schedule(static)
    for (int block = 0; block < 64; block++) {
        int begin = keys / 64 * block, end = keys / 64 * (block + 1);
        unsigned long state = jumped(4 * (unsigned long)begin);
        for (int i = begin; i < end; i++) {
            state = state * 1220703125 & 0x3fffffffffff;
            key[i] = (int)(state >> 20);
        }
    }
}
