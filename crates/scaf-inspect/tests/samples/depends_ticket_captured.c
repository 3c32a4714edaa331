static int tickets;
void run(double *a, int each)
{
    tickets = 0;
#pragma omp parallel
    {
        int mine;
#pragma omp atomic capture
        mine = tickets++;
        for (int i = mine * each; i < (mine + 1) * each; i++) a[i] *= 2;
    }
}
