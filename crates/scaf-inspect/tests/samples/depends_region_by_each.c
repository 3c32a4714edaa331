int run(int n)
{
    int done = 0;
#pragma omp parallel
    {
#pragma omp parallel for reduction(+ : done)
        for (int i = 0; i < n; i++) done += i;
    }
    return done;
}
