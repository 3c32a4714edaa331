int all, cells[64], w[16];

void run(void)
{
#pragma omp parallel
    {
        int s = 0, before;
#pragma omp for schedule(static) nowait
        for (int i = 0; i < 16; i++) s += w[i];
#pragma omp critical
        {
            before = all;
            all += s;
        }
#pragma omp for schedule(static)
        for (int i = 0; i < 16; i++) {
#pragma omp atomic
            cells[before + (i & 1)] += 1;
        }
    }
}
