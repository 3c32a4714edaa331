// A value begins with a product in four bytes and goes on in eight.
unsigned long a[64];

void run(int n)
{
#pragma omp parallel
    {
        int first = 1;
        unsigned long k = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            if (first)
                k = (unsigned)i * 0x10000001u, first = 0;
            a[i] = k;
            k += 0x10000001u;
        }
    }
}
