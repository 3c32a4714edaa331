#include <omp.h>
static int size;
static unsigned char dividend, divisor, quotient;
int kept(unsigned char a, unsigned char b)
{
    dividend = a;
    divisor = b;
    return size + quotient;
}
void run(void)
{
#pragma omp parallel
    {
#pragma omp single
        {
            int all = omp_get_num_threads();
            quotient = dividend / divisor;
            size = all;
        }
    }
}
