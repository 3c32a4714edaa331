/* Each thread's sum wraps at two bytes before it is added. */
unsigned char numbers[1000];
unsigned total;

void run(void) {
#pragma omp parallel
    {
        unsigned short sum = 0;
#pragma omp for nowait
        for (int i = 0; i < 1000; i++)
            sum += numbers[i];
#pragma omp atomic
        total += sum;
    }
}
