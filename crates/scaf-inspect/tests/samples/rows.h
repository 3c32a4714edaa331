// Rows of M numbers, shared out by hand as compilers do two loops in one: the first iteration of a share is
// FIRST, and each other one EACH; at a row's end, ROW.
#include "share.h"

#define M 33
#ifndef ROW
#define ROW row += M + 1
#endif

static int a[200][M + 1], b[200][M + 1];

void run(int n)
{
#pragma omp parallel
    {
        SHARE(n * M);
        if (begin < end) {
            unsigned i = (unsigned)begin / M, j = (unsigned)begin % M;
            unsigned row = i * (M + 1);
            int *to = &a[0][0];
            const int *from = &b[0][0];
            FIRST;
            for (int at = begin + 1; at < end; at++) {
                if (++j == M) {
                    j = 0;
                    i++;
                    ROW;
                }
                EACH;
            }
        }
    }
}

int get(int i)
{
    return a[i][i] + b[i][0]++;
}
