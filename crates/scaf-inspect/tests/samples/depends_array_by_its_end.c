#include <omp.h>
void keep_before(const int *end);
void run(void)
{
#pragma omp parallel
#pragma omp single
    {
        int all[12];
        all[4] = omp_get_num_threads();
        all[5] = 2;
        all[6] = 3;
        all[7] = 4;
        keep_before(all + 8);
    }
}
