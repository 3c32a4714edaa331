int run(int n)
{
    int done = 0;
#pragma omp parallel
    for (int i = 0; i < n; i++) {
#pragma omp task shared(done)
        {
#pragma omp atomic
            done++;
        }
    }
    return done;
}
