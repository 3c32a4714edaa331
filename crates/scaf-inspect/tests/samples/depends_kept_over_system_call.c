#include <omp.h>
int size;
void run(void)
{
#pragma omp parallel
#pragma omp single
    {
        int all = omp_get_num_threads();
        long self = 186;
        __asm__ volatile("syscall" : "+a"(self) : : "rcx", "r11", "memory");
        size = all;
    }
}
