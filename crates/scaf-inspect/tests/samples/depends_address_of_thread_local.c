static __thread char own;
void run(unsigned long *met, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) met[i] = (unsigned long)&own;
}
