/* build: gcc -O2 */
/* The dynamic linker's latest error is the program's own: there is none before its first search, and then it
 * is of that search. */
#define _GNU_SOURCE
#include "test.h"
#include <dlfcn.h>

int main(void)
{
    long wrong = dlerror() != NULL;
    void *library = dlopen("libm.so.6", RTLD_NOW);
    wrong += library == NULL || dlerror() != NULL;
    wrong += dlsym(RTLD_DEFAULT, "a_function_that_nobody_has") != NULL;
    const char *said = dlerror();
    wrong += said == NULL || strstr(said, "a_function_that_nobody_has") == NULL;
    wrong += dlerror() != NULL;
    say("wrong", wrong);
    return 0;
}
