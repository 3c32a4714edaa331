/* Threads are counted by where their errno is. */
#include <errno.h>

int *known[64], count;

void run(void) {
#pragma omp parallel for
    for (int i = 0; i < 1000; i++) {
        int *own = &errno;
#pragma omp critical
        {
            int k = 0;
            while (k < count && known[k] != own)
                k++;
            if (k == count)
                known[count++] = own;
        }
    }
}
