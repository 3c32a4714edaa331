subroutine run(to, n)
  integer :: n, i
  integer(8) :: to(n), state
  state = 12345
  !$omp parallel do firstprivate(state) schedule(static)
  do i = 1, n
    state = mod(state * 1103515245_8 + 12345_8, 2147483648_8)
    to(i) = state
  end do
end subroutine
