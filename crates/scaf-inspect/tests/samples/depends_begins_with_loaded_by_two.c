// The same, and goes on by two.
int a[64], b[64];

void run(int n)
{
#pragma omp parallel
    {
        int first = 1, k = 0;
#pragma omp for schedule(static)
        for (int i = 0; i < n; i++) {
            if (first)
                k = i * 2 + b[i], first = 0;
            a[i] = k;
            k += 2;
        }
    }
}
