#include <stdio.h>
#include <string.h>

/* A copy of the line is new in each iteration, what it fails to set isn't. */
char lines[512][16];
int out[512];

void run(int n)
{
#pragma omp parallel
    {
        char words[16];
        int value;
#pragma omp for schedule(static)
        for (int i = 0; i < n; i++) {
            strcpy(words, lines[i]);
            sscanf(words, "%d", &value);
            out[i] = value;
        }
    }
}
