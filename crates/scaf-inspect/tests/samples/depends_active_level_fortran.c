/* As gfortran calls it. */
int omp_get_active_level_(void);
int answer(void)
{
    return omp_get_active_level_();
}
