/* As gfortran calls it. */
int omp_in_parallel_(void);
int omp_in_final_(void);
int answer(void)
{
    return omp_in_parallel_() + omp_in_final_();
}
