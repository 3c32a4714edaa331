#include <omp.h>
struct link {
    struct link *next;
};
struct item {
    double value;
    int size;
    struct link link;
};
void enlist(struct link *);
void run(void)
{
#pragma omp parallel
#pragma omp single
    {
        struct item item;
        item.size = omp_get_num_threads();
        item.link.next = 0;
        enlist(&item.link);
    }
}
