void run(int *a, int n)
{
    int row = 0, column = 0;
#pragma omp parallel for firstprivate(row, column)
    for (int i = 0; i < n; i++) {
        a[i] = row * 100 + column;
        if (++column == 16) { column = 0; row++; }
    }
}
