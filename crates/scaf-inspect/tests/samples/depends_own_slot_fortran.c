/* As gfortran calls it. */
int omp_get_thread_num_(void);
void run(double *a)
{
#pragma omp parallel
    a[omp_get_thread_num_()] = 1;
}
