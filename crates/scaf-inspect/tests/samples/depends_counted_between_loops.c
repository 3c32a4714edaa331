void run(int *a, int *b, int *count)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < 256; i++) a[i] += i;
#pragma omp single
        b[0] = a[7];
#pragma omp atomic
        *count += 1;
#pragma omp for
        for (int i = 0; i < 256; i++) a[i] += b[0];
    }
}
