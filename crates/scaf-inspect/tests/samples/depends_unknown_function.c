void unknown(int);
void run(int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) unknown(i);
}
