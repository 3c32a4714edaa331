/* Each thread's sum is squared before it is added. */
long run(const int *a, int n)
{
    long sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        long own = 0;
#pragma omp for
        for (int i = 0; i < n; i++) own += a[i];
        sum += own * own;
    }
    return sum;
}
