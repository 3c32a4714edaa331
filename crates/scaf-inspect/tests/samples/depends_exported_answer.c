#include <omp.h>
int me(void) { return omp_get_thread_num(); }
int us(void) { return omp_get_num_threads() + 1; }
