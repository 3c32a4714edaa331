/* build: gcc -O2 -fopenmp -pthread */
/*
 * As gathered_spins.c, in a program that may start threads of its own, which its code could be changed under.
 */
#include <pthread.h>

#define main spins_main
#include "gathered_spins.c"
#undef main

static void *nothing(void *argument)
{
    return argument;
}

int main(int count, char **words)
{
    pthread_t thread;
    if (!pthread_create(&thread, NULL, nothing, NULL))
        pthread_join(thread, NULL);
    return spins_main(count, words);
}
