double all, limit = 2.5, in[16];

void run(void)
{
#pragma omp parallel
    {
        double most = -1, s = 0;
#pragma omp for schedule(static) nowait
        for (int i = 0; i < 16; i++) {
            if (in[i] > most)
                most = in[i];
            s += in[i];
        }
        if (most > limit) {
#pragma omp critical
            all += s;
        }
    }
}
