/* Each task of a loop counts its iterations. */
int counted[1000];

void run(void) {
    int count = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop firstprivate(count)
    for (int i = 0; i < 1000; i++)
        counted[i] = count++;
}
