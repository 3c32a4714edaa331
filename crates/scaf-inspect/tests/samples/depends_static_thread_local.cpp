void run(long *to, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        static thread_local long made = 0;
        to[i] = ++made;
    }
}
