#include <omp.h>
struct slot {
    int *part;
    long me;
};
static __attribute__((noipa)) struct slot mine(int *part)
{
    return (struct slot){part, omp_get_thread_num()};
}
void run(int *part)
{
#pragma omp parallel
    {
        struct slot slot = mine(part);
        slot.part[slot.me]++;
    }
}
