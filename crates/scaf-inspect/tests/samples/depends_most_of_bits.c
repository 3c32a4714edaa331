/* The most of floats is combined as the most of the same bits. */
float numbers[1000];
static unsigned most;
unsigned run(void) {
#pragma omp parallel
    {
        float its = -1000;
#pragma omp for nowait
        for (int i = 0; i < 1000; i++)
            if (numbers[i] > its)
                its = numbers[i];
        union { float f; unsigned u; } as = { its };
        unsigned old = most, greater;
        do
            greater = as.u > old ? as.u : old;
        while (!__atomic_compare_exchange_n(&most, &old, greater, 0, 5, 5));
    }
    return most;
}
