/* Each thread's sum is cut to one byte before it is added. */
unsigned char numbers[1000];
unsigned total;

void run(void) {
#pragma omp parallel
    {
        unsigned sum = 0;
#pragma omp for nowait
        for (int i = 0; i < 1000; i++)
            sum += numbers[i];
#pragma omp atomic
        total += (unsigned char)sum;
    }
}
