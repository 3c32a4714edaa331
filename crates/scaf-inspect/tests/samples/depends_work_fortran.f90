subroutine run(total, n)
    use omp_lib
    integer, intent(in) :: n
    integer, intent(out) :: total
    integer :: each, i
    each = n / omp_get_max_threads()
    total = 0
!$omp parallel private(i) reduction(+:total)
    do i = 1, each
        total = total + mod(i, 3)
    end do
!$omp end parallel
end subroutine
