/* build: gcc -O2 -ldl */
/* Has no OpenMP itself. Has each given library compute, and closes it again unless `keep` comes first. */
#include "test.h"
#include <dlfcn.h>

int main(int count, char **words)
{
    int keep = count > 1 && !strcmp(words[1], "keep");
    long rounds = 0, wrong = 0, first_result[16] = {0};
    do {
        for (int i = 1 + keep; i < count && i < 16; i++) {
            void *library = dlopen(words[i], RTLD_NOW | RTLD_LOCAL);
            if (!library) {
                fprintf(stderr, "%s\n", dlerror());
                return 3;
            }
            long (*compute)(long) = (long (*)(long))dlsym(library, "compute");
            long result = compute(10);
            if (!rounds)
                first_result[i] = result;
            wrong += result != first_result[i];
            if (!keep)
                dlclose(library);
        }
        rounds++;
    } while (going());
    for (int i = 1 + keep; i < count && i < 16; i++)
        say("result", first_result[i]);
    say("rounds", rounds);
    say("wrong", wrong);
    return wrong != 0;
}
