// Compilers take the first iteration out of such a loop: they find the next indexes before each other one.
void run(double *a, const double *b, int n, int m)
{
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i * m + j] += 2 * b[j * n + i];
}
