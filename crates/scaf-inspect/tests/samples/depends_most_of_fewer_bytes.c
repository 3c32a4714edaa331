/* The most of numbers is cut to a byte before it is combined. */
unsigned numbers[1000];
static unsigned char most;

unsigned run(void) {
#pragma omp parallel
    {
        unsigned its = 0;
#pragma omp for nowait
        for (int i = 0; i < 1000; i++)
            if (numbers[i] > its)
                its = numbers[i];
        unsigned char old = most, greater;
        do
            greater = (unsigned char)its > old ? its : old;
        while (!__atomic_compare_exchange_n(&most, &old, greater, 0, 5, 5));
    }
    return most;
}
