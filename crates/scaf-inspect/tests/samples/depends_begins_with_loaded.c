// What goes from one iteration to the next begins with what is loaded where the thread's share begins.
int a[64], b[64];

void run(int n)
{
#pragma omp parallel
    {
        int first = 1, k = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            if (first)
                k = i + b[i], first = 0;
            a[i] = k++;
        }
    }
}
