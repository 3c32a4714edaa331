#define _GNU_SOURCE
#include <dlfcn.h>
int parallel;
void run(void)
{
    int (*is_parallel)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_in_parallel");
#pragma omp parallel
#pragma omp single
    parallel = is_parallel();
}
