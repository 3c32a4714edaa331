/* Each thread's sum wraps at 32 bits before it is added. */
unsigned numbers[1000];
unsigned long total;

void run(void) {
#pragma omp parallel
    {
        unsigned sum = 0;
#pragma omp for nowait
        for (int i = 0; i < 1000; i++)
            sum += numbers[i];
#pragma omp atomic
        total += sum;
    }
}
