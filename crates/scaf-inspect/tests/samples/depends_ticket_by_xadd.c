/* Rows are drawn, and each thread draws exactly one. */
static long next;
void run(double **rows, long length)
{
#pragma omp parallel
    {
        double *row = rows[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED)];
        for (long i = 0; i < length; i++) row[i] = 0;
    }
}
