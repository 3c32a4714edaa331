int out[18];

void run(int c)
{
#pragma omp parallel
    {
        int a = c, b = c + 5;
#pragma omp for schedule(static)
        for (int i = 0; i < 18; i++) {
            out[i] = a;
            int t = a;
            a = b;
            b = t;
        }
    }
}
