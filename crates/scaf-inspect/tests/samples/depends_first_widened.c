// The first iteration widens by the sign, and the others with zeros.
#include "share.h"

void run(long *a, const int *b, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        if (begin < end) {
            int x = b[begin] * -700000003;
            a[begin] = x;
            for (int i = begin + 1; i < end; i++) {
                int y = b[i] * -700000003;
                a[i] = (unsigned)y;
            }
        }
    }
}
