static volatile int gone;
int run(int others)
{
    int seen = 0;
#pragma omp parallel
    {
#pragma omp single nowait
        {
            volatile double work = 1;
            while (!(gone >= others)) work *= 1.0000001;
            seen = gone;
        }
#pragma omp atomic
        gone++;
    }
    return seen;
}
