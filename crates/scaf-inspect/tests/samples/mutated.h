// Prints what `run` leaves in `a`, which has room around it for elements that a mutant misses.
#include <stdio.h>

double before[4096], a SHAPE, behind[4096], b SHAPE, beyond[4096];

static void run(void);

int main(void)
{
    double sum = 0, *all = (double *)a, *taken = (double *)b;
    int many = sizeof a / sizeof *all;
    for (int i = 0; i < many; i++) {
        taken[i] = i * 1.5 + i % 7;
        all[i] = i * 0.25;
    }
    run();
    for (int i = 0; i < many; i++)
        sum = sum * 1.0001 + all[i] * (i % 97 + 1);
    printf("%.17g\n", sum);
    return 0;
}
