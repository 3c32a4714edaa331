#include <omp.h>
void ask(int (*)(void));
void run(int many)
{
    ask(many ? omp_get_thread_num : omp_get_num_threads);
}
