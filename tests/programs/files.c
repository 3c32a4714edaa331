/* build: gcc -O2 -fopenmp */
/* How many files it has open after many rounds. */
#include "test.h"
#include <dirent.h>

static long open_files(void)
{
    long count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 3; /* ".", ".." and the folder itself */
}

int main(void)
{
    long rounds = 0, team, smallest = 1000;
    do {
        team = 0;
#pragma omp parallel reduction(+ : team)
        team = 1 + 0 * work(200, 1);
        smallest = team < smallest ? team : smallest;
        rounds++;
    } while (going());
    say("rounds", rounds);
    say("smallest", smallest);
    say("files", open_files());
    return 0;
}
