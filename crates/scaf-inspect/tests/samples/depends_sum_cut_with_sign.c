/* Each thread's sum is cut to four bytes before it is added. */
unsigned char numbers[1000];
long total;

void run(void) {
#pragma omp parallel
    {
        long sum = 0;
#pragma omp for nowait
        for (int i = 0; i < 1000; i++)
            sum += numbers[i];
#pragma omp atomic
        total += (int)sum;
    }
}
