/* Loops that only look, and end by themselves: they carry an index, a pointer or a state. */
extern const char *texts[];

long lengths(long n, const int *keys, int key)
{
    long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long i = 0; i < n; i++) {
        const char *end = texts[i];
        while (*end)
            end++;
        long at = 0;
        while (keys[at] < key)
            at = 2 * at + 1;
        unsigned long state = i;
        while (keys[state & 1023] != 3)
            state = state * 6364136223846793005UL + 1442695040888963407UL;
        sum += end - texts[i] + at + (long)state;
    }
    return sum;
}
