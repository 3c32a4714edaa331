#include <stdio.h>

/* What a line doesn't have is what the thread's line before had; its address is passed on the stack. */
struct record {
    int x, y, z, u;
} records[512];
char lines[512][32];
int out[512];

void run(int n)
{
#pragma omp parallel
    {
        int last = 0;
#pragma omp for schedule(static)
        for (int i = 0; i < n; i++) {
            struct record *r = &records[i];
            sscanf(lines[i], "%d %d %d %d %d", &r->x, &r->y, &r->z, &r->u, &last);
            out[i] = last;
        }
    }
}
