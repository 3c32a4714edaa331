/* Each of two iterations waits for the other one, though not for ever. */
#include <omp.h>

enum { N = 1200 };

volatile int flags[2];
int cells[2];

void meet(void) {
    flags[0] = flags[1] = 0;
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < 2; i++) {
        long tries = 0;
        flags[i] = 1;
        while (!flags[!i]) {
            if (++tries == 100000000) { cells[i] = 99; break; }
        }
    }
}
