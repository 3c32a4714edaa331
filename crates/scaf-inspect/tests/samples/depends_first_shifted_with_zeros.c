// The first iteration of a share shifts by the sign, the others with zeros.
#include "share.h"

long a[64];

void run(int n, long x)
{
#pragma omp parallel
    {
        SHARE(n);
        if (begin < end) {
            long i = begin;
            a[i] = (x >> 3) + 5;
            long v = (long)((unsigned long)x >> 3) + 5;
            if (i + 1 < end) {
                i++;
                do
                    a[i] = v;
                while (++i < end);
            }
        }
    }
}
