/* The least of what was the most in each thread's share. */
int numbers[1000], least = 1000000;

void run(void) {
#pragma omp parallel
    {
        int most = -1000000;
#pragma omp for nowait
        for (int i = 0; i < 1000; i++)
            most = numbers[i] > most ? numbers[i] : most;
#pragma omp critical
        least = most < least ? most : least;
    }
}
