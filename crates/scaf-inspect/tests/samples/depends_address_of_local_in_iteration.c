static void __attribute__((noinline)) count(long *met)
{
    volatile char here = 0;
    unsigned long at = (unsigned long)&here;
    met[(at >> 16) % 1021] += here + 1;
}
void run(long *met, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) count(met);
}
