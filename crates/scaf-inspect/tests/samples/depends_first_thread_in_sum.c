/* Only what the first thread has in its share is added up. */
#include <omp.h>

enum { N = 1200 };

int given[N];
long total;

void add(void) {
#pragma omp parallel
    {
        long sum = 0;
        int counts = omp_get_thread_num() == 0;
#pragma omp for schedule(static) nowait
        for (int i = 0; i < N; i++) sum += given[i] * counts;
#pragma omp atomic
        total += sum;
    }
}
