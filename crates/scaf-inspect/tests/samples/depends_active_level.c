#include <omp.h>
int level(void)
{
    return omp_get_active_level();
}
