static double now[130], then[130];
double run(void)
{
#pragma omp parallel for
    for (int i = 1; i < 129; i++) then[i] = 0.5 * (now[i - 1] + now[i + 1]);
    double sum = 0;
    for (int i = 0; i < 130; i++) sum += then[i];
    return sum;
}
void set(int i, double x) { now[i] = x; }
