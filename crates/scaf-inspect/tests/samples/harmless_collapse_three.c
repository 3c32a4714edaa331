// Three indexes in one, whose numbers are known.
static long cells[4][8][8];

void run(long round)
{
#pragma omp parallel for collapse(3)
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 8; j++)
            for (int k = 0; k < 8; k++)
                cells[i][j][k] += i * 3 + j * k + round;
}

long get(int i)
{
    return cells[i][i][i];
}
