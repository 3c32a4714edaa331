long run(int n)
{
    long sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        long own = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            own++;
            sum += own * own;
        }
    }
    return sum;
}
