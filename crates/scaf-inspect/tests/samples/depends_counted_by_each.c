int run(void)
{
    int threads = 0;
#pragma omp parallel
#pragma omp atomic
    threads++;
    return threads;
}
