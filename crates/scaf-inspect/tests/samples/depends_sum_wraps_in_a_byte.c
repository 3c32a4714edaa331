/* Each thread's sum wraps at one byte before it is added. */
signed char numbers[1000];
int total;

void run(void) {
#pragma omp parallel
    {
        signed char sum = 0;
#pragma omp for nowait
        for (int i = 0; i < 1000; i++)
            sum += numbers[i];
#pragma omp atomic
        total += sum;
    }
}
