subroutine run(done, each)
  integer(8) :: done, each
  done = 0
  !$omp parallel reduction(+:done)
  done = done + each
  !$omp end parallel
end subroutine
