void run(long *a)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int i = 0; i < 256; i++) a[i] = 0;
}
