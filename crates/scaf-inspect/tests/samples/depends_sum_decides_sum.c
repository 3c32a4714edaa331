int all, w[16];

void run(void)
{
#pragma omp parallel
    {
        int s = 0;
#pragma omp for schedule(static) nowait
        for (int i = 0; i < 16; i++) s += w[i];
#pragma omp critical
        if (all < 5)
            all += s;
    }
}
