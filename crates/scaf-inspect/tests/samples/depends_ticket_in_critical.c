static int tickets, owner[64];
void run(void)
{
#pragma omp parallel
    {
        int mine;
#pragma omp critical(drawing)
        mine = tickets++ % 64;
        owner[mine] = 1;
    }
}
