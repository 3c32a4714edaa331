#include <omp.h>
struct sink {
    void (*done)(struct sink *, long, int);
};
void run(struct sink *sink, const long *a, int kind)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        long x = 0;
        switch (kind) {
        case 0: x = a[0] + 1; break;
        case 1: x = a[5] * a[3]; break;
        case 2: x = a[2] ^ a[7]; break;
        case 3: x = a[1] << 3; break;
        case 4: x = a[9] - a[4]; break;
        case 5: x = a[6] | a[8]; break;
        }
        sink->done(sink, x, me);
    }
}
