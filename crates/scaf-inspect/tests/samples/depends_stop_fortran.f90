! What `stop` prints of exceptions depends on the iterations that the first thread had.
subroutine invert(a, n)
  integer :: n, i
  real(8) :: a(n)
  !$omp parallel do
  do i = 1, n
    a(i) = 1 / a(i)
  end do
  stop 'inverted'
end subroutine
