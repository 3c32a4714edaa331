#include <omp.h>
/* Called directly here, and through a table there. */
static __attribute__((noinline)) int by_team(void) { return omp_get_thread_num(); }
static int alone(void) { return 0; }
static int (*const ways[])(void) = {alone, by_team};
void note(void);
void run(int *part, int way)
{
#pragma omp parallel
    if (by_team() == 0) note();
#pragma omp parallel
    part[ways[way]()]++;
}
