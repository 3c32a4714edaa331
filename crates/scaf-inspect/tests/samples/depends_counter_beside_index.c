int out[16], w[32];

void run(int c)
{
#pragma omp parallel
    {
        int k = 0;
#pragma omp for schedule(static)
        for (int i = 0; i < 16; i++) {
            k += c;
            out[i] = w[i] + i + k;
        }
    }
}
