// A thread's share of n iterations, computed as gcc does for a static schedule: from `begin` up to `end`.
#include <omp.h>

#define SHARE(n) \
    int number = omp_get_thread_num(), size = omp_get_num_threads(); \
    int length = (n) / size, rest = (n) % size; \
    if (number < rest) \
        length++, rest = 0; \
    int begin = number * length + rest, end = begin + length
