int one[18], other[18];

void run(void)
{
#pragma omp parallel
    {
        int *from = one, *to = other;
#pragma omp for schedule(static)
        for (int i = 0; i < 18; i++) {
            to[i] = from[i] + i;
            int *t = from;
            from = to;
            to = t;
        }
    }
}
