static float a[48][48];
void run(void)
{
#pragma omp parallel for collapse(2)
    for (int i = 0; i < 48; i++)
        for (int j = 0; j < 48; j++) a[i][j] = i * 48 + j;
}
float get(int i, int j) { return a[i][j]; }
