// The first iteration adds up fewer bits than the others.
#include "share.h"

unsigned from = 0xfffffffe;

void run(unsigned long *a, int n)
{
#pragma omp parallel
    {
        SHARE(n);
        unsigned first = from;
        if (begin < end) {
            a[begin] = (unsigned)(first + (unsigned)begin);
            for (int i = begin + 1; i < end; i++)
                a[i] = (unsigned long)first + (unsigned)i;
        }
    }
}
