/* build: gcc -O2 -pthread -ldl -Wl,-rpath,$ORIGIN */
/* A BLAS like MKL's dispatching library: it loads its layer, here a copy of itself, looks functions up in it with
 * its lock held, and takes that lock in each of its own functions. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int threads = 2;

int MKL_Get_Max_Threads(void);
void MKL_Set_Num_Threads(int number);
long compute(long seed);

int MKL_Get_Max_Threads(void)
{
    pthread_mutex_lock(&lock);
    int number = threads;
    pthread_mutex_unlock(&lock);
    return number;
}

void MKL_Set_Num_Threads(int number)
{
    pthread_mutex_lock(&lock);
    threads = number;
    pthread_mutex_unlock(&lock);
}

long compute(long seed)
{
    pthread_mutex_lock(&lock);
    void *layer = dlopen("libmkl_layer.so", RTLD_NOW | RTLD_LOCAL);
    if (!layer) {
        fprintf(stderr, "%s\n", dlerror());
        pthread_mutex_unlock(&lock);
        return -1;
    }
    int (*get)(void) = (int (*)(void))dlsym(layer, "MKL_Get_Max_Threads");
    void (*set)(int) = (void (*)(int))dlsym(layer, "MKL_Set_Num_Threads");
    pthread_mutex_unlock(&lock);
    set(3);
    return seed * get() + MKL_Get_Max_Threads();
}
