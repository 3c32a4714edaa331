/* Threads are counted by where their stacks are: a function is passed an address, and looks for it. */
unsigned long known[64], counts[64];
int count;

__attribute__((noinline)) static int number_of(unsigned long at)
{
    int k = 0;
    while (k < count && known[k] != at >> 16)
        k++;
    if (k == count)
        known[count++] = at >> 16;
    return k;
}

void run(void)
{
#pragma omp parallel for
    for (int i = 0; i < 1000; i++) {
        char own = (char)i;
#pragma omp critical
        counts[number_of((unsigned long)&own)]++;
    }
}
