/* As gfortran calls it. */
int omp_in_parallel_(void);
int omp_get_active_level_(void);
int answer(void)
{
    return omp_in_parallel_() + omp_get_active_level_();
}
