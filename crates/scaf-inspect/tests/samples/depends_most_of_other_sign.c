/* The most of numbers with a sign is combined as the most of numbers without one. */
int numbers[1000];
static unsigned most;

unsigned run(void) {
#pragma omp parallel
    {
        int its = -1000;
#pragma omp for nowait
        for (int i = 0; i < 1000; i++)
            if (numbers[i] > its)
                its = numbers[i];
        unsigned old = most, greater;
        do
            greater = (unsigned)its > old ? its : old;
        while (!__atomic_compare_exchange_n(&most, &old, greater, 0, 5, 5));
    }
    return most;
}
