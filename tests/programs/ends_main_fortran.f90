! build: gfortran -O2 -fopenmp
! The main program ends its thread instead of its process, once its regions have been.
program ends_main_fortran
  use iso_c_binding, only: c_ptr, c_null_ptr, c_long
  implicit none
  interface
    subroutine end_thread(result) bind(c, name='pthread_exit')
      import :: c_ptr
      type(c_ptr), value :: result
    end subroutine
  end interface
  integer :: i, rounds
  integer(c_long) :: sum, begin, now, rate

  call system_clock(begin, rate)
  rounds = 0
  do
    sum = 0
    !$omp parallel do reduction(+:sum) schedule(dynamic)
    do i = 1, 100
      sum = sum + i
    end do
    if (sum /= 5050) stop 1
    rounds = rounds + 1
    call system_clock(now)
    if (now - begin > rate) exit
  end do
  print '(a)', 'wrong=0'
  flush (6)
  call end_thread(c_null_ptr)
end program
