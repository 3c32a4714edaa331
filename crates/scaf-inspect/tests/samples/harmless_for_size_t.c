#include <stddef.h>
void run(int *a, const int *b, size_t n)
{
#pragma omp parallel for
    for (size_t i = 0; i < n; i++) a[i] = b[i];
}
