long cells[256];
unsigned words[64];

void run(long at)
{
#pragma omp parallel for
    for (int i = 0; i < 256; i++)
        cells[i] += at + 3 * i;
#pragma omp parallel for
    for (int i = 0; i < 64; i++) {
        unsigned w = i * 2654435761u;
        words[i] = w << 7 | w >> 25;
    }
}
