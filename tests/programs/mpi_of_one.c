/* build: gcc -O2 */
/* Loads a library that brings an MPI of its own, for its own eyes only, twice: what was found the first time
 * is gone the second time. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words)
{
    long right = 0;
    for (int time = 0; count > 1 && time < 2; time++) {
        void *library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
        int (*sum_of_one)(double) = library ? (int (*)(double))dlsym(library, "sum_of_one") : NULL;
        if (!sum_of_one) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        right += sum_of_one(42 + time) == 42 + time;
        dlclose(library);
    }
    printf("right=%ld\n", right);
    return 0;
}
