void look(double *x, int i);
void run(double *a, int n)
{
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < n; i++) look(a, i);
}
