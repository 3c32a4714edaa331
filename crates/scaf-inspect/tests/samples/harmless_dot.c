double run(double *x, double *y, double scale)
{
    double dot = 0;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < 512; i++) { x[i] = i % 7; y[i] = i % 5; }
#pragma omp for reduction(+ : dot)
        for (int i = 0; i < 512; i++) dot += x[i] * y[i];
#pragma omp for
        for (int i = 0; i < 512; i++) y[i] += scale * dot * x[i];
    }
    return dot;
}
