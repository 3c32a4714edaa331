int out[16], in[16];

void run(void)
{
#pragma omp parallel
    {
        int most = -1;
#pragma omp for schedule(static)
        for (int i = 0; i < 16; i++) {
            int record = 0;
            if (in[i] > most) {
                most = in[i];
                record = 1;
            }
            out[i] = record;
        }
    }
}
