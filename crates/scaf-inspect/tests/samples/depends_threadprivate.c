static int counter;
#pragma omp threadprivate(counter)
int run(int n)
{
    int sum = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++) counter += i;
#pragma omp parallel reduction(+ : sum)
    sum += counter;
    return sum;
}
