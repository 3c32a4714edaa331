/* Each task of a loop has a structure of its own, which a function changes in each iteration. */
struct own {
    int count;
    int sums[5];
};
int counted[1000];

static __attribute__((noinline)) void count(struct own *own) {
    own->count++;
    own->sums[2] += own->count;
}

void run(void) {
    struct own own = {0};
#pragma omp parallel
#pragma omp single
#pragma omp taskloop firstprivate(own)
    for (int i = 0; i < 1000; i++) {
        count(&own);
        counted[i] = own.sums[2];
    }
}
