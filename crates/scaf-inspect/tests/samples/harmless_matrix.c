double a[24][24], b[24][24], c[24][24];

void run(void)
{
#pragma omp parallel for
    for (int i = 0; i < 24; i++)
        for (int j = 0; j < 24; j++) {
            double sum = 0;
            for (int k = 0; k < 24; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}
