// Two indexes in one, over rows of a known length: the row is kept beside its number.
static double a[40][34], b[40][34];

void run(void)
{
#pragma omp parallel for collapse(2)
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 32; j++)
            a[i][j] = b[i][j];
}

double get(int i)
{
    return a[i][i] + b[i][0]++;
}
