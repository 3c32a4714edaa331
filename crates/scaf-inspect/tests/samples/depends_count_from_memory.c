/* Each thread counts its iterations on from a number in memory. */
int counted[1000], first;

void run(void) {
    int count = first;
#pragma omp parallel for firstprivate(count)
    for (int i = 0; i < 1000; i++)
        counted[i] = count++;
}
