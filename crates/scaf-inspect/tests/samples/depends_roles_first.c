#include <omp.h>
void comm(void);
void work(int i);
int next;
void run(int n)
{
#pragma omp parallel
    if (omp_get_thread_num() == 0) {
        comm();
    } else {
        int i;
        for (;;) {
#pragma omp atomic capture
            i = next++;
            if (i >= n) break;
            work(i);
        }
    }
}
