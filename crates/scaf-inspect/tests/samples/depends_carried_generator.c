void run(long *to, int n, unsigned long state)
{
#pragma omp parallel for firstprivate(state) schedule(static)
    for (int i = 0; i < n; i++) {
        state = state * 6364136223846793005UL + 1442695040888963407UL;
        to[i] = state >> 33;
    }
}
