void run(unsigned long *low, int n)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++) {
        unsigned long here = (unsigned long)__builtin_frame_address(0);
        if (here < low[i]) low[i] = here;
    }
}
