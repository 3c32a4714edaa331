long run(const int *a, int n)
{
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += a[i] * (i & 3);
    return sum;
}
