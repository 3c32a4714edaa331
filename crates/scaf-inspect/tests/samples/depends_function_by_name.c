#define _GNU_SOURCE
#include <dlfcn.h>
int size;
void run(void)
{
    int (*size_of_level)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "omp_get_team_size");
#pragma omp parallel
#pragma omp single
    size = size_of_level(1);
}
