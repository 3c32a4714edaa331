/* build: gcc -O2 */
/* Regions as LLVM's compilers emit them, on whichever runtime is there. */
#include "test.h"

extern void __kmpc_fork_call(void *, int, void *, ...);
extern void __kmpc_barrier(void *, int);
extern int __kmpc_global_thread_num(void *);
extern int omp_get_num_threads(void);
static struct place {
    int first, flags, second, third;
    const char *source;
} place = {0, 2, 0, 22, ";a.c;main;1;1;;"};
static long counted[64], wrong, regions;

static void body(int *global, int *bound, long *sum)
{
    (void)bound;
    counted[*global]++;
    __kmpc_barrier(&place, *global);
    long all = 0;
    for (int i = 0; i < omp_get_num_threads(); i++)
        all += counted[i];
    wrong += all != (regions + 1) * omp_get_num_threads();
    *sum += work(1000, *global) * 0 + 1;
    __kmpc_barrier(&place, *global);
}

int main(void)
{
    do {
        long sum = 0;
        __kmpc_fork_call(&place, 1, (void *)body, &sum);
        wrong += sum != 4;
        regions++;
    } while (going());
    say("wrong", wrong);
    return wrong != 0;
}
