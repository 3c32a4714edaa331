/* Each task of a loop has an array of its own that goes from one iteration to the next. */
int counted[1000];

void run(void) {
    int own[8] = {0};
#pragma omp parallel
#pragma omp single
#pragma omp taskloop firstprivate(own)
    for (int i = 0; i < 1000; i++) {
        own[i & 3]++;
        counted[i] = own[i & 3];
    }
}
