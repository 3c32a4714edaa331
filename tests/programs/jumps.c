/* build: gcc -O2 -ldl */
/* Asks for and sets the team size through libtail.so, whose calls are jumps: they return to here. */
#include "test.h"
#include <dlfcn.h>

int main(int count, char **words)
{
    void *library = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return 3;
    int (*size)(void) = (int (*)(void))dlsym(library, "team_size");
    void (*set_size)(int) = (void (*)(int))dlsym(library, "set_team_size");
    int (*count_team)(void) = (int (*)(void))dlsym(library, "count_team");
    volatile int asked = size();
    say("at_first", asked);
    set_size(3);
    asked = size();
    say("then", asked);
    say("team", count_team());
    return 0;
}
