subroutine run(to, n)
  integer :: n, i, to(n), held
  common /kept/ held
  !$omp threadprivate(/kept/)
  !$omp parallel do
  do i = 1, n
    held = held + 1
    to(i) = held
  end do
end subroutine
