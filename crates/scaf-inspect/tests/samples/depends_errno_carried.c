/* An iteration looks at the errno of the one before. */
#include <errno.h>

int seen[1000];

void run(void) {
#pragma omp parallel for
    for (int i = 0; i < 1000; i++) {
        seen[i] = errno;
        errno = i & 7;
    }
}
