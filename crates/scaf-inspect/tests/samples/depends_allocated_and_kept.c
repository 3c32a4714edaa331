#include <stdlib.h>

struct list {
    struct list *next;
    long value;
};
struct list *all;

void run(long *a, int n)
{
#pragma omp parallel
    {
        struct list *own = malloc(sizeof *own);
        own->value = 1;
#pragma omp critical
        {
            own->next = all;
            all = own;
        }
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
    }
}
