/* build: gcc -O2 */
/* Loads a library that is linked with MPI, for its own eyes only, as Python does with its modules. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words)
{
    void *library = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*rank_of_job)(void) = library ? (int (*)(void))dlsym(library, "rank_of_job") : NULL;
    if (!rank_of_job) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    return rank_of_job();
}
