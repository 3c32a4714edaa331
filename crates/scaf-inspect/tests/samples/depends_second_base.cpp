#include <omp.h>
struct sized {
    int size;
    virtual ~sized() {}
};
struct visitor {
    virtual void visit() = 0;
    virtual ~visitor() {}
};
void walk(visitor &);
struct counter : sized, visitor {
    void visit() override;
};
void run()
{
#pragma omp parallel
#pragma omp single
    {
        counter one;
        one.size = omp_get_num_threads();
        walk(one);
    }
}
