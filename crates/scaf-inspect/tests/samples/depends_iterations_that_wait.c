/* As many iterations as threads: each works on until all have come. */
static volatile int came;
void run(int *to, int n)
{
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < n; i++) {
        __atomic_fetch_add(&came, 1, __ATOMIC_SEQ_CST);
        while (came < n) to[i]++;
    }
}
