void run(float *a, long round)
{
#pragma omp parallel for
    for (unsigned long i = 0; i < 256; i++) a[i] = i * 0.5f + round;
}
