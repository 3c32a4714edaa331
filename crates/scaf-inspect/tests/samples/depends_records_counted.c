int in[16];
long count;

void run(void)
{
#pragma omp parallel
    {
        int most = -1;
        long records = 0;
#pragma omp for schedule(static) nowait
        for (int i = 0; i < 16; i++)
            if (in[i] > most) {
                most = in[i];
                records++;
            }
#pragma omp critical
        count += records;
    }
}
