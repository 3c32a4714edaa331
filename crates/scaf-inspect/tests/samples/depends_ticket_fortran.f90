subroutine run(a, n)
  integer :: n, i, ticket, mine
  real(8) :: a(n, *)
  ticket = 0
  !$omp parallel private(mine, i)
  !$omp atomic capture
  ticket = ticket + 1
  mine = ticket
  !$omp end atomic
  do i = 1, n
    a(i, mine) = 0
  end do
  !$omp end parallel
end subroutine
